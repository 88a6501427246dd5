"""aot_function: a function whose graphs are compiled by compilers, and cut by a partition function, of the user."""

from __future__ import annotations

import dataclasses
import functools
import logging
import weakref
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

from jaxaot import settings as config
from jaxaot._typing import ClosedJaxpr
from jaxaot.aot.compilers import Compiler, as_backend
from jaxaot.aot.partitions import PartitionFunction, default_partition, run_partition
from jaxaot.errors import OptionError
from jaxaot.flow import with_hooks
from jaxaot.passes.decompose import Table, decompose
from jaxaot.passes.pipeline import run_passes
from jaxaot.pipeline import traced_call, traced_of
from jaxaot.plan.paths import Path
from jaxaot.plan.stages import Partition, Traced
from jaxaot.runtime.call import generate
from jaxaot.runtime.compile_report import Inspector
from jaxaot.runtime.compiled import CompiledFunction, uncompiled
from jaxaot.runtime.program import Program, lower
from jaxaot.runtime.traced_call import GivenCall
from jaxaot.tape.saved_hooks import without_saved_hooks

P = ParamSpec("P")
R = TypeVar("R")

_log = logging.getLogger("jaxaot.aot")
_functions: weakref.WeakSet[CompiledFunction] = weakref.WeakSet()


def aot_function(
    fn: Callable[P, R],
    fw_compiler: Compiler | str,
    bw_compiler: Compiler | str | None = None,
    partition_fn: PartitionFunction = default_partition,
    decompositions: Table | None = None,
    num_params_buffers: int = 0,
    keep_inference_input_mutations: bool = False,
    inference_compiler: Compiler | str | None = None,
    *,
    dynamic: bool = False,
    enable_log: bool = True,
    disable_functionalization: bool = False,
) -> CompiledFunction[P, R]:
    """Returns `fn`, with its forward and backward graphs compiled by the compilers given.

        def shown(jaxpr, example_avals):
            print(jaxpr)
            return jax.jit(jax.extend.core.jaxpr_as_fun(jaxpr))

        loss = ja.aot.aot_function(fn, shown)

    All that a call of `fn` does (writes, sharing, gradients) happens as with `ja.compile`. A call that differs from the
    earlier ones is traced and compiled for itself. The backward is compiled when it first runs.

    Args:
      fn: A function of tensors, arrays and numbers in any containers.
      fw_compiler: Compiles forward graphs: takes a ClosedJaxpr and the types of its inputs, and returns a function of
        flat arrays that returns a list. Or the name of a backend, such as `"xla"`, which reuses the buffers of what is
        written.
      bw_compiler: Compiles backward graphs; `fw_compiler` by default.
      partition_fn: Cuts a joint graph, see `ja.aot.default_partition`.
      decompositions: Primitives, or their names, with functions that compute the same by others.
      num_params_buffers: How many of the leading inputs are parameters and buffers. It says nothing here, where every
        size is static; PyTorch keeps their sizes static with it.
      keep_inference_input_mutations: Says nothing here: a written storage gets its new value, which is never copied.
      inference_compiler: Compiles the graph of a call through which no gradient flows; `fw_compiler` by default.
      dynamic: Must be false.
      enable_log: Whether the graphs are logged, by the logger `jaxaot.aot` at level DEBUG.
      disable_functionalization: Must be false.

    Raises:
      OptionError: If an option is set that has no meaning here.
      CompilerError: If there is no backend of that name.
    """
    if dynamic:
        raise OptionError(
            "`dynamic=True` asks for one graph for several sizes. Here each size is compiled once and kept, so that no "
            "later call gets a graph that was made for another. Leave `dynamic` out."
        )
    if disable_functionalization:
        raise OptionError(
            "`disable_functionalization=True` asks for a graph that writes to its inputs. A jaxpr is functional: it "
            "returns what is to be written, and the call puts it into the storages without a copy. Leave it out."
        )
    if not isinstance(num_params_buffers, int) or num_params_buffers < 0:
        raise OptionError(f"`num_params_buffers` is a number of inputs, 0 or more, not {num_params_buffers!r}.")
    forward = as_backend(fw_compiler, "fw_compiler")
    backward = as_backend(*_chosen(bw_compiler, "bw_compiler", fw_compiler), is_lazy=True)
    inference = as_backend(*_chosen(inference_compiler, "inference_compiler", fw_compiler))
    # a function of the user's may keep what it is passed; our own backends give buffers away
    donate = isinstance(fw_compiler, str), isinstance(inference_compiler or fw_compiler, str)

    def cut(traced: Traced) -> Partition:
        joint = traced.joint()
        if decompositions:
            joint = run_passes(joint, [functools.partial(decompose, table=decompositions)], config.get().check_graphs)
        # a partition function may trace: hooks in force are for the residuals of this graph, and come after
        with without_saved_hooks():
            partition = run_partition(partition_fn, joint)
        return with_hooks(partition)

    def build(
        fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], writing: Any, numbers: Sequence[Path]
    ) -> Program:
        call = traced_call(GivenCall(fn, args, kwargs, numbers))
        traced, key = call.traced, call.key
        if not traced.needs_backward:
            if decompositions:
                traced = dataclasses.replace(traced, jaxpr=decompose(traced.jaxpr, decompositions))
            if enable_log:
                _log.debug("%s", traced)
            return generate(lower(traced, None, inference, key, donate[1]), writing)
        partition = cut(traced)
        if enable_log:
            _log.debug("%s\n\n%s", partition.joint, partition)

        def make(jaxpr: ClosedJaxpr, donated: Any, name: str) -> Any:
            return (backward if name == "backward" else forward)(jaxpr, donated, name)

        return generate(lower(traced, partition, make, key, donate[0]), writing)

    compiled = CompiledFunction(uncompiled(fn), build, Inspector(traced_of, cut))
    _functions.add(compiled)
    return compiled


def _chosen(compiler: Any, label: str, otherwise: Any) -> tuple[Any, str]:
    return (otherwise, "fw_compiler") if compiler is None else (compiler, label)


def clear_compile_cache() -> None:
    """Drops every compiled version of every function that `ja.aot` made; the next calls are compiled again."""
    for function in list(_functions):
        function.clear_cache()
