"""The warnings of jaxaot, which `jaxaot.errors` shows beside the errors; the docstring of each is its help page."""


class RecompileWarning(UserWarning):
    """One argument or attribute makes a compiled function compile again and again, or run eagerly.

    The message names it and what to write instead. `step.explain_recompiles()` lists why each program was made.

        @ja.compile
        def step(x, n):
            for _ in range(n):
                x = x * 2
            return x
        for n in range(12):
            step(ja.ones(3), n)    # RecompileWarning: a program for each value of `n`
        step = ja.compile(lambda x, n: x * 2**n)
        for n in range(12):
            step(ja.ones(3), n)
    """


class TracedPrintWarning(UserWarning):
    """A function that has to be one graph calls `print` or logs, which happens when it is traced, not at each call.

    `ja.print` prints the values of tensors at each call; without `fullgraph=True` the function runs in parts.

        def step(x):
            print(x)
            return x * 2
        ja.compile(step, fullgraph=True)(ja.ones(3))    # TracedPrintWarning
        def step(x):
            ja.print(x)
            return x * 2
        ja.compile(step)(ja.ones(3))
    """


class UnmatchedNamesWarning(UserWarning):
    """A policy mentions a name that `checkpoint_name` gave to no value of the graph.

    For example:

        step = lambda x: ja.policies.checkpoint_name(x.sin(), "attention").exp().sum()
        joint = ja.trace(step, ja.ones(3, requires_grad=True)).joint()
        joint.partition(ja.policies.save_any_names_but_these("atention"))    # UnmatchedNamesWarning
        joint.partition(ja.policies.save_any_names_but_these("attention"))
    """


class UnprovedGuardsWarning(UserWarning):
    """`ja.config(validate_guards=True)` found neither a proof nor a counter-example for the guards of a program.

    The time for it was used up, or arithmetic such as `x ** y` is more than the solver knows of. The program runs.

        step = ja.compile(lambda x: x.sin())
        with ja.config(validate_guards=True):
            step(ja.ones(3))                    # UnprovedGuardsWarning where the time is used up
    """


class UntriedVersionWarning(UserWarning):
    """Python or JAX is newer than all versions that the tests of this jaxaot passed with.

    `pip install --upgrade jaxaot` gets one that was tried with them, if there is one.
    `warnings.filterwarnings("ignore", message="jaxaot was tried")` before the import hides the warning.

        import warnings
        warnings.filterwarnings("ignore", message="jaxaot was tried")
        import jaxaot as ja                     # UntriedVersionWarning where a newer JAX is installed
    """


for _cls in (RecompileWarning, TracedPrintWarning, UnmatchedNamesWarning, UnprovedGuardsWarning, UntriedVersionWarning):
    _cls.__module__ = "jaxaot.errors"
del _cls
