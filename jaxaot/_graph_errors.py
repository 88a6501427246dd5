"""The root of all errors, and the errors of graphs; users find them in `jaxaot.errors`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class JaxaotError(Exception):
    """Any error that jaxaot raises on purpose."""


class CompilerError(JaxaotError, RuntimeError):
    """A graph that cannot be built, checked, partitioned or compiled."""


class GraphCheckError(CompilerError):
    """A graph that is malformed. This is a defect of a pass, yours or ours."""


class PolicyError(CompilerError, ValueError):
    """A partition policy that is unknown or returns nonsense."""


class BudgetError(CompilerError, ValueError):
    """A memory budget that cannot be read, or that no partition meets."""


class OffloadError(CompilerError, RuntimeError):
    """Values were to be kept in the memory of the host, and the device cannot do that."""


class MissingExtraError(CompilerError, ImportError):
    """A package that jaxaot needs for this alone is not installed."""


class TagConflictError(CompilerError, ValueError):
    """A value that must be saved and must be recomputed.

    `ja.must_recompute(ja.must_save(y))` says both of `y`; a mark overrules policies and budgets, so no two may
    contradict each other. Take one out.
    """


class SettingsChangedError(CompilerError):
    """A compiled stage was called under other settings of JAX than it was compiled under, such as x64.

    Types and precision were decided when it was traced. Trace and compile it again; `ja.compile` does so by itself.
    """


class CacheFolderError(CompilerError, ValueError):
    """The directory of `ja.config(cache_dir=…)` cannot be used, or others than the user may write to it.

    Programs are read from it, so nothing is: make one of your own, `mkdir -m 700 ~/.cache/jaxaot`.
    """


class CacheBypassError(CompilerError):
    """A graph cannot be kept in `cache_dir`, and `ja.config(strict_cache=True)` makes that an error.

    Graphs with side effects, with functions of Python in them, and of several devices are tuned and compiled in each
    process. Leave `strict_cache` off, and `step.explain_cache()` counts them.
    """


class StaleWeightsError(CompilerError):
    """A parameter of a frozen function changed, and it was frozen with `stale="refuse"`.

    Freeze it again, or with `stale="repack"`, which computes anew what depends on the parameter.
    """


class WrongExecutableError(CompilerError):
    """A program of XLA returned something else than the equations of its graph give one by one.

    It is looked for under `ja.config(check_executables=True)`, at the first call of each program.
    """


class UnsoundGuardsError(CompilerError):
    """The guards of a program do not imply what its trace relied on, so that it would run where it is wrong.

    It is looked for under `ja.config(validate_guards=True)`, before the program of a call is made. The message names
    what was relied on first, with its line, and a case in which the guards hold and that does not. This is a defect of
    jaxaot. Until it is mended, call the function eagerly, or let `ja.compiler.disable` do so.

    Attributes:
      fact: What was relied on, in words.
      line: Where, as `file:line  source`; empty if it is not known.
      counterexample: Places in the user's words → what they hold in the case that was found.
    """

    fact: str = ""
    line: str = ""
    counterexample: Mapping[str, Any] = {}


class NotDifferentiableError(CompilerError, TypeError):
    """A function without a float input or output to differentiate."""


class ForwardModeError(CompilerError, TypeError):
    """A function under `ja.remat` that cannot be differentiated in forward mode.

    It uses a `jax.custom_vjp` whose backward is not linear in the cotangents, such as one that clips them. `jax.jvp`
    of a `custom_vjp` is an error in JAX as well. Use reverse mode, or define a `jax.custom_jvp`.
    """


class CompilerResultError(CompilerError, TypeError):
    """A compiler passed to `ja.aot` returned something that does not compute its graph.

    A compiler takes a ClosedJaxpr and the types of its inputs, and returns a function of flat arrays that returns a
    list: `lambda jaxpr, avals: jax.jit(jax.extend.core.jaxpr_as_fun(jaxpr))`.
    """


class PartitionResultError(CompilerError, ValueError):
    """A `partition_fn` returned two graphs that are no cut of the joint graph it was given."""


class DecompositionError(CompilerError, TypeError):
    """A function in a table of decompositions returns values of other types than the equation that it replaces."""


class OptionError(CompilerError, ValueError):
    """An option that PyTorch's function of the same name has and that has no meaning in JAX."""


for _cls in [value for value in globals().values() if isinstance(value, type)]:
    if _cls.__module__ == __name__:
        _cls.__module__ = "jaxaot.errors"
del _cls
