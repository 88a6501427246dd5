"""The warnings of jaxaot, which `jaxaot.errors` shows beside the errors; the docstring of each is its help page."""


class RecompileWarning(UserWarning):
    """One argument or attribute makes a compiled function compile again and again, or run eagerly.

    The message names it and what to write instead. `step.explain_recompiles()` lists why each program was made.
    """


class TracedPrintWarning(UserWarning):
    """A compiled function calls `print` or logs, which happens when it is traced and not at each call.

    `ja.print` prints the values of tensors at each call.
    """


class UnmatchedNamesWarning(UserWarning):
    """A policy mentions a name that `checkpoint_name` gave to no value of the graph.

    `ja.policies.save_only_these_names("atention")` says nothing of a value named `"attention"`. The message lists the
    names that there are.
    """


class UnprovedGuardsWarning(UserWarning):
    """`ja.config(validate_guards=True)` found neither a proof nor a counter-example for the guards of a program.

    The time for it was used up, or arithmetic such as `x ** y` is more than the solver knows of. The program runs.
    """


class UntriedVersionWarning(UserWarning):
    """Python or JAX is newer than all versions that the tests of this jaxaot passed with.

    `pip install --upgrade jaxaot` gets one that was tried with them, if there is one.
    `warnings.filterwarnings("ignore", message="jaxaot was tried")` before the import hides the warning.
    """


for _cls in (RecompileWarning, TracedPrintWarning, UnmatchedNamesWarning, UnprovedGuardsWarning, UntriedVersionWarning):
    _cls.__module__ = "jaxaot.errors"
del _cls
