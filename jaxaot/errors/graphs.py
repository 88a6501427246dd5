"""The root of all errors, and the errors of graphs; users find them in `jaxaot.errors`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from jaxaot._frames import rendered


class JaxaotError(Exception):
    """Any error that jaxaot raises on purpose; its traceback ends with where it is explained.

    Python and IPython show the user's lines of it alone; `JAXAOT_TRACEBACK=full` in the environment shows all frames.
    """

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__module__.startswith("jaxaot.errors."):
            cls.__module__ = "jaxaot.errors"  # where users find it

    def __new__(cls, *args: object, **kwargs: object) -> Self:
        """Notes the section of the page of errors, and how to read it where there is no page."""
        error = super().__new__(cls, *args)
        name = next(base.__name__ for base in cls.__mro__ if base.__module__ == "jaxaot.errors")
        error.add_note(f"Explained in docs/errors.md#{name.lower()}, and by `help(ja.errors.{name})`.")
        return error

    def _render_traceback_(self) -> list[str]:
        """Returns what IPython shows of the error."""
        return rendered(self)


class CompilerError(JaxaotError, RuntimeError):
    """A graph that cannot be built, checked, partitioned or compiled."""


class GraphCheckError(CompilerError):
    """A graph that is malformed. This is a defect of a pass, yours or ours.

    For example:

        drop = lambda graph: graph.replace(jaxpr=graph.jaxpr.replace(eqns=[]))    # a pass that forgets equations
        with ja.config(passes=(drop,), check_graphs=True):
            ja.trace(lambda x: x.sin().sum(), ja.ones(3, requires_grad=True)).joint().partition()    # GraphCheckError
        ja.trace(lambda x: x.sin().sum(), ja.ones(3, requires_grad=True)).joint().partition()
    """


class PolicyError(CompilerError, ValueError):
    """A partition policy that is unknown or returns nonsense.

    For example:

        f = ja.remat(lambda x: jnp.sin(x).sum(), policy="min_kut")    # PolicyError
        f = ja.remat(lambda x: jnp.sin(x).sum(), policy="min_cut")
    """


class BudgetError(CompilerError, ValueError):
    """A memory budget that cannot be read, or that no partition meets.

    For example:

        f = ja.remat(lambda x: jnp.sin(x).sum(), memory_budget="64 megs")    # BudgetError
        f = ja.remat(lambda x: jnp.sin(x).sum(), memory_budget="64MiB")
    """


class OffloadError(CompilerError, RuntimeError):
    """Values were to be kept in the memory of the host, and the device cannot do that.

    For example:

        x = ja.ones(3, requires_grad=True)
        joint = ja.trace(lambda x: x.sin().exp().sum(), x).joint()
        with ja.config(offload=True):
            joint.partition(memory_budget=0.5)  # OffloadError where the device has no `pinned_host` memory
        joint.partition(memory_budget=0.5)
    """


class MissingExtraError(CompilerError, ImportError):
    """A package that jaxaot needs for this alone is not installed.

    For example:

        ja.save({"w": ja.ones(3)}, "w.safetensors")    # MissingExtraError where safetensors is not installed
    """


class TagConflictError(CompilerError, ValueError):
    """A value that must be saved and must be recomputed.

    `ja.policies.must_recompute(ja.policies.must_save(y))` says both of `y`; a mark overrules policies and budgets, so
    no two may contradict each other. Take one out.

        step = lambda x: ja.policies.must_recompute(ja.policies.must_save(x.sin())).exp().sum()
        x = ja.ones(3, requires_grad=True)
        ja.trace(step, x).joint().partition()   # TagConflictError
        step = lambda x: ja.policies.must_save(x.sin()).exp().sum()
        ja.trace(step, x).joint().partition()
    """


class SettingsChangedError(CompilerError):
    """A compiled stage was called under other settings of JAX than it was compiled under, such as x64.

    Types and precision were decided when it was traced. Trace and compile it again; `ja.compile` does so by itself.

        step = ja.compile(lambda x: x.sin())
        step(ja.ones(3))
        with jax.enable_x64(True):
            step(ja.ones(3))                    # no SettingsChangedError: another program is made
    """


class CacheFolderError(CompilerError, ValueError):
    """The directory of `ja.config(cache_dir=…)` cannot be used, or others than the user may write to it.

    Programs are read from it, so nothing is: make one of your own, `mkdir -m 700 ~/.cache/jaxaot`.

        import os
        x, loss = ja.ones(8, 8, requires_grad=True), ja.compile(lambda x: (x @ x).tanh().sum())
        os.mkdir("theirs"), os.chmod("theirs", 0o777)
        with ja.config(cache_dir="theirs"):             # CacheFolderError
            loss(x)
        with ja.config(cache_dir="mine"):
            loss(x)
    """


class CacheBypassError(CompilerError):
    """A graph cannot be kept in `cache_dir`, and `ja.config(strict_cache=True)` makes that an error.

    Graphs with side effects, with functions of Python in them, and of several devices are cut and tuned in each
    process. Leave `strict_cache` off, and `loss.explain_cache()` counts them.

        x, loss = ja.ones(8, 8, requires_grad=True), ja.compile(lambda x: (ja.print("{}", x[0, 0]), (x @ x).sum())[1])
        with ja.config(cache_dir="mine", strict_cache=True):    # CacheBypassError
            loss(x)
        with ja.config(cache_dir="mine"):
            loss(x)
    """


class StaleWeightsError(CompilerError):
    """A parameter of a frozen function changed, and it was frozen with `stale="refuse"`.

    Freeze it again, or with `stale="repack"`, which computes anew what depends on the parameter.

        model, x = ja.nn.Linear(2, 3), ja.ones(2)
        serve, other = ja.compiler.freeze(model, x, stale="refuse"), ja.compiler.freeze(model, x)
        with ja.no_grad():
            model.weight.mul_(2)
        serve(x)                                        # StaleWeightsError
        other(x)
    """


class WrongExecutableError(CompilerError):
    """A program of XLA returned something else than the equations of its graph give one by one.

    It is looked for under `ja.config(check_executables=True)`, at the first call of each program.

        step = ja.compile(lambda x: x.sin())
        with ja.config(check_executables=True):
            step(ja.ones(3))                    # WrongExecutableError where XLA has a fault
        ja.compile(lambda x: x.sin(), backend="interpret")(ja.ones(3))    # one equation at a time
    """


class UnsoundGuardsError(CompilerError):
    """The guards of a program do not imply what its trace relied on, so that it would run where it is wrong.

    It is looked for under `ja.config(validate_guards=True)`, before the program of a call is made. The message names
    what was relied on first, with its line, and a case in which the guards hold and that does not. This is a defect of
    jaxaot. Until it is mended, call the function eagerly, or let `ja.compiler.disable` do so.

        step = ja.compile(lambda x: x.sin())
        with ja.config(validate_guards=True):
            step(ja.ones(3))                    # UnsoundGuardsError where the guards say too little
        ja.compiler.disable(lambda x: x.sin())(ja.ones(3))

    Attributes:
      fact: What was relied on, in words.
      line: Where, as `file:line  source`; empty if it is not known.
      counterexample: Places in the user's words → what they hold in the case that was found.
    """

    fact: str = ""
    line: str = ""
    counterexample: Mapping[str, Any] = {}


class NotDifferentiableError(CompilerError, TypeError):
    """A function without a float input or output to differentiate.

    For example:

        ja.trace(lambda x: x + 1, ja.ones(3)).joint()    # NotDifferentiableError
        ja.trace(lambda x: x + 1, ja.ones(3, requires_grad=True)).joint()
    """


class ForwardModeError(CompilerError, TypeError):
    """A function under `ja.remat` that cannot be differentiated in forward mode.

    It uses a `jax.custom_vjp` whose backward is not linear in the cotangents, such as one that clips them. `jax.jvp`
    of a `custom_vjp` is an error in JAX as well. Use reverse mode, or define a `jax.custom_jvp`.

        @jax.custom_vjp
        def clipped(x):
            return x
        clipped.defvjp(lambda x: (x, None), lambda _, ct: (jnp.clip(ct, -1.0, 1.0),))
        x = jnp.ones(3)
        jax.jvp(ja.remat(lambda x: jnp.sin(clipped(x))), (x,), (x,))    # ForwardModeError
        jax.vjp(ja.remat(lambda x: jnp.sin(clipped(x))), x)
    """


class CompilerResultError(CompilerError, TypeError):
    """A compiler passed to `ja.aot` returned something that does not compute its graph.

    A compiler takes a ClosedJaxpr and the types of its inputs, and returns a function of flat arrays that returns a
    list: `lambda jaxpr, avals: jax.jit(jax.extend.core.jaxpr_as_fun(jaxpr))`.

        ja.aot.aot_function(lambda x: x * 2, lambda jaxpr, avals: None)(ja.ones(3))    # CompilerResultError
        compiler = lambda jaxpr, avals: jax.jit(jax.extend.core.jaxpr_as_fun(jaxpr))
        ja.aot.aot_function(lambda x: x * 2, compiler)(ja.ones(3))
    """


class PartitionResultError(CompilerError, ValueError):
    """A `partition_fn` returned two graphs that are no cut of the joint graph it was given.

    For example:

        x, step = ja.ones(3, requires_grad=True), lambda x: x.sin().exp().sum()
        swapped = lambda joint: ja.aot.default_partition(joint)[::-1]
        ja.aot.aot_function(step, "interpret", partition_fn=swapped)(x)    # PartitionResultError
        ja.aot.aot_function(step, "interpret", partition_fn=ja.aot.default_partition)(x)
    """


class DecompositionError(CompilerError, TypeError):
    """A function in a table of decompositions returns values of other types than the equation that it replaces.

    For example:

        first = {"sin": lambda x, **_: x[:1]}
        ja.aot.aot_function(lambda x: x.sin(), "interpret", decompositions=first)(ja.ones(3))    # DecompositionError
        shifted = {"sin": lambda x, **_: jnp.cos(x - jnp.pi / 2)}
        ja.aot.aot_function(lambda x: x.sin(), "interpret", decompositions=shifted)(ja.ones(3))
    """


class OptionError(CompilerError, ValueError):
    """An option that PyTorch's function of the same name has and that has no meaning in JAX.

    For example:

        ja.aot.aot_function(lambda x: x * 2, "interpret", dynamic=True)    # OptionError
        ja.aot.aot_function(lambda x: x * 2, "interpret")
    """


class UnpicklableError(CompilerError, TypeError):
    """A graph or a compiled function was pickled, by a process pool for instance, or as an attribute of a model.

    Graphs and executables belong to the process that made them. A compiled function is pickled by its name if it is
    found under that name in a module, as any function is. To keep a function in a file, export it.

    For example:

        import pickle
        step = ja.compile(lambda x: x * 2)
        pickle.dumps(step)    # UnpicklableError
        ja.export(step, ja.ones(3)).save("step.jaxaot")
    """


JaxaotError.__module__ = "jaxaot.errors"
