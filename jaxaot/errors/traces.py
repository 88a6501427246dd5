"""The errors of functions that become graphs; users find them in `jaxaot.errors`."""

from __future__ import annotations

from jaxaot.errors.graphs import JaxaotError


class TraceError(JaxaotError, RuntimeError):
    """A function that could not be turned into a graph."""


class ConcretizationError(TraceError, TypeError):
    """Python asked for the value of a tensor that is only a symbol during tracing.

    `if x.sum() > 0`, `while err > tol`, `int(n)`, `.item()`, `.tolist()` and `x.nonzero()` ask for values. Compute with
    tensors (`ja.where`, `ja.cond`, `ja.while_loop`), pass the value as a Python argument, or let the function run in
    parts, between which Python has the values: leave out `fullgraph=True`.

        def step(x):
            return x if x.sum() > 0 else -x
        ja.compile(step, fullgraph=True)(ja.ones(3))    # ConcretizationError
        ja.compile(step)(ja.ones(3))
        ja.compile(lambda x: ja.where(x.sum() > 0, x, -x))(ja.ones(3))
    """


class LastingHookError(TraceError):
    """A hook on a gradient, or `retain_grad`, inside of a traced function, which no later call could register again.

    That is so on a view, on what is written later, on what was there before, and where the handle is kept. `ja.compile`
    runs such a function in parts. Register such hooks outside; or run the backward inside, which calls them.

        def step(x):
            y = (x * 2)[1:]
            y.register_hook(print)
            return y.sum()
        x = ja.ones(3, requires_grad=True)
        ja.trace(step, x)                       # LastingHookError
        y = ja.compile(lambda x: (x * 2)[1:])(x)
        y.register_hook(print)
    """


class LeakedTensorError(TraceError):
    """A tensor made during a trace was used, or is still held, after the trace ended.

    What a compiled function keeps in attributes, lists and variables is live after each call. Not so what it puts into
    an object that cannot be looked into, such as a queue, or what the body of a control flow call keeps.

        import queue
        results = queue.SimpleQueue()
        def step(x):
            results.put(x * 2)
            return x
        ja.trace(step, ja.ones(3))              # LeakedTensorError
        results.put(ja.compile(lambda x: x * 2)(ja.ones(3)))
    """


class UnguardedError(TraceError):
    """A compiled function reads of Python what no call could look at again.

    A list, dict or set of more than 100,000 items is one. Keep them in an array, or say that they never change while
    their number does not: `ja.config(trust_large_containers=True)`.

        table = list(range(200_000))
        step = lambda x: x * table[3]
        ja.compile(step, fullgraph=True)(ja.ones(3))    # UnguardedError
        with ja.config(trust_large_containers=True):
            ja.compile(step)(ja.ones(3))
    """


class VolatileError(TraceError):
    """A function reads what is another thing at each call: an iterator, Python's random numbers, a clock, a file.

    `ja.compile` runs such a function eagerly, after a warning; `ja.trace` raises.

        import random
        ja.trace(lambda x: x * random.random(), ja.ones(3))    # VolatileError
        ja.trace(lambda x: x * ja.rand(()), ja.ones(3))
    """

    def __init__(self, reason: str, advice: str = ""):
        """Says what it reads, and what to write instead."""
        super().__init__(reason, advice)
        self.reason, self.advice = reason, advice

    def __str__(self) -> str:
        return f"{self.reason}. {self.advice}" if self.advice else self.reason


class EagerOnlyError(VolatileError):
    """A function does what no graph can do for later calls: its backward writes to a tensor, or `set_` joins two.

    `ja.compile` runs such a function eagerly, after a warning; `ja.trace` raises.

        calls = ja.zeros(())
        class Counting(ja.autograd.Function):
            forward = staticmethod(lambda ctx, x: x.clone())
            backward = staticmethod(lambda ctx, gradient: (calls.add_(1), gradient)[1])
        x = ja.ones(3, requires_grad=True)
        ja.trace(lambda x: Counting.apply(x).sum(), x).joint()    # EagerOnlyError
        Counting.backward = staticmethod(lambda ctx, gradient: gradient)
        ja.trace(lambda x: Counting.apply(x).sum(), x).joint()
    """


class TracedPlacementError(TraceError):
    """A question where a traced tensor lies, which has another answer at each call.

    One program serves tensors however they are placed. Look at `x.placements` before the compiled function is called,
    or at what it returns; inside, say a placement: `x.redistribute(mesh, placements)`.

        from jaxaot.distributed import Shard, distribute_tensor, init_device_mesh
        x = distribute_tensor(ja.ones(4), init_device_mesh("cpu", (1,), mesh_dim_names=("dp",)), [Shard(0)])
        ja.trace(lambda x: x * len(x.placements), x)    # TracedPlacementError
        ja.trace(lambda x: x * 2, x)
    """


class UnreachableTensorError(TraceError):
    """A function read a tensor that is neither an argument nor reachable from its closure, globals or `self`.

    For example:

        import logging
        holder = logging.Filter()               # an object of a library, which is not looked into
        holder.weight = ja.ones(3)
        ja.compile(lambda x: x + holder.weight, fullgraph=True)(ja.ones(3))    # UnreachableTensorError
        ja.compile(lambda x, weight: x + weight)(ja.ones(3), holder.weight)
    """


class CapturedTensorChangedError(TraceError):
    """The function of a `cond`, `while_loop`, `scan` or `map` changed more of a tensor from outside than its values.

    `ja.cond(p, lambda: x.t_(), lambda: x)` would leave `x` transposed or not, as a value says that is only known when
    the compiled graph runs. Return the view instead, or change the tensor before or after.

        x = ja.ones(2, 2)
        step = lambda p: ja.cond(p, lambda: x.t_(), lambda: x)
        ja.compile(step)(ja.tensor(True))       # CapturedTensorChangedError
        step = lambda p: ja.cond(p, lambda: x.t().clone(), lambda: x.clone())
        ja.compile(step)(ja.tensor(True))
    """


class StaticArgumentError(TraceError, TypeError):
    """A non-tensor argument that is not hashable, so that it cannot be part of a cache key.

    Without `fullgraph=True` the function runs eagerly. Containers of Python's library are no such arguments.

        step = ja.compile(lambda x, rows: x[rows], fullgraph=True)
        step(ja.ones(3), slice(0, ja.tensor(2)))            # StaticArgumentError
        step(ja.ones(3), slice(0, 2))
    """


class UnsupportedVariableError(TraceError, TypeError):
    """An `nnx.Variable` of a sort that cannot become an input of a graph.

    Variables made with `ref=True` or `hijax=True` hold mutable arrays of JAX. Leave both out.

        from flax import nnx
        double = ja.compile(lambda v: v[...] * 2)
        double(nnx.Param(jnp.ones(3), ref=True))    # UnsupportedVariableError
        double(nnx.Param(jnp.ones(3)))
    """


class AttributeChangeError(TraceError):
    """A traced function put something into an attribute, a list or a variable that a later call could not make again.

    Tensors, arrays, plain values, containers of them, objects of classes of your own and nnx modules are carried out at
    every call. A function, an iterator, a file, or one Variable in two modules is not: assign it outside, or return it.

        import types
        state = types.SimpleNamespace()
        def step(x):
            state.squares = (i * i for i in range(3))
            return x
        ja.compile(step, fullgraph=True)(ja.ones(3))    # AttributeChangeError
        def step(x):
            state.squares = [i * i for i in range(3)]
            return x
        ja.compile(step)(ja.ones(3))
    """


class SignatureMismatchError(TraceError, TypeError):
    """A compiled stage was called with arguments other than those it was traced for.

    For example:

        x = ja.ones(3, requires_grad=True)
        double = ja.trace(lambda x: x * 2, x).joint().partition().compile()
        double(ja.ones(4))                      # SignatureMismatchError
        double(x)
    """


class ModuleLiftError(TraceError, TypeError):
    """An object whose parameters and buffers cannot become inputs, or that changed its structure during a call.

    `ja.aot.aot_module` takes objects that hold tensors and can be called, flax nnx modules, and flax linen modules with
    their variables: `ja.aot.aot_module(module, compiler, variables=variables)`.

        ja.aot.aot_module({"weight": ja.ones(3)}, "xla")    # ModuleLiftError
        ja.aot.aot_module(ja.nn.Linear(3, 1), "xla")
    """


class ExportError(TraceError):
    """A function that no exported graph can stand for.

    A graph of values cannot resize a storage, hold an input without bytes, or, where the calling convention of the
    function is to be kept (`aot_export_joint_simple`), write to its inputs.

        def step(x):
            x.mul_(2)
            return x.sum()
        ja.aot.aot_export_joint_simple(step, (ja.ones(3),), trace_joint=False)    # ExportError
        ja.aot.aot_export_module(step, (ja.ones(3),), trace_joint=False)
    """


class LossError(ExportError):
    """The output that `output_loss_index` names cannot be the loss: it is missing, not a scalar, or needs no gradient.

    `ja.aot.aot_export_module(model, (x,), trace_joint=True, output_loss_index=0)` needs a model whose first output is
    a float tensor of one element that depends on a parameter.

        model, x = ja.nn.Linear(3, 2), ja.ones(4, 3)
        export = ja.aot.aot_export_module
        export(model, (x,), trace_joint=True, output_loss_index=0)    # LossError
        export(lambda x: model(x).sum(), (x,), trace_joint=True, output_loss_index=0)
    """
