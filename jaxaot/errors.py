"""The exceptions of jaxaot.

    JaxaotError
    ├── TensorError                       eager use of tensors
    │   ├── ViewError                     a view that cannot be made
    │   ├── ShapeMismatchError            operands that do not fit together
    │   ├── DtypeError                    a dtype that cannot be used there
    │   ├── DimError                      a dim or index out of range
    │   ├── OverlappingWriteError         a write to memory that shows up twice
    │   ├── StorageSizeError              a view that the storage no longer holds
    │   ├── DeviceTypeError               a kind of device that there is not
    │   ├── TensorTypeError               a value of a kind that cannot be used there
    │   ├── TensorValueError              a value that has no meaning there
    │   ├── SingularMatrixError           a matrix without an inverse or factor
    │   ├── NoValueError                  the value of a tensor that has none, on the device "meta"
    │   ├── DeletedArrayError             a jax array whose buffer was donated or deleted
    │   ├── DiscardedParameterError       a parameter that a frozen function has let go
    │   └── ArgumentError                 arguments that do not fit an op's schema
    ├── AutogradError                     gradients
    │   ├── LeafWriteError                a leaf that requires grad, written in place
    │   ├── NoGradPathError               backward from what does not require grad
    │   ├── FrozenGradientError           a gradient through a frozen function
    │   ├── NoInputsError                 a gradient with respect to nothing
    │   ├── BackwardTwiceError            residuals already freed
    │   ├── RecomputeMismatchError        a checkpointed function that does something else the second time
    │   ├── SavedTensorWrittenError       what a backward saved was written since, where that is checked
    │   ├── SavedTensorDetachedError      what a backward saved was detached in place since, where that is checked
    │   ├── InferenceTensorError          a tensor of `inference_mode` where gradients are recorded
    │   ├── SavedHooksError               hooks on a saved tensor that cannot be set
    │   │   ├── SavedHooksDisabledError   `saved_tensors_hooks` where they are forbidden
    │   │   ├── UntraceableHooksError     hooks around `ja.remat` that no graph can carry out
    │   │   └── PackedDerivativeError     a second derivative of what hooks packed, under `ja.remat`
    │   ├── PackHookWroteError            a pack hook that writes to the tensor that it gets
    │   ├── FunctionResultError           a custom Function that returns, saves or marks what it cannot
    │   ├── MissingMethodError            a custom Function without a method that is needed
    │   ├── NoDerivativeError             an op that has no derivative, or none in forward mode
    │   ├── GradientMismatchError         a gradient that finite differences do not agree with
    │   ├── AnomalyError                  a backward that gives a NaN, in anomaly mode
    │   ├── HookResultError               a hook on a gradient that returned what cannot take its place
    │   ├── DualTensorError               a dual tensor that cannot be made
    │   ├── ScalerOrderError              methods of a GradScaler called in the wrong order
    │   ├── IndependentInputError         an output that depends on no input, where that is asked for
    │   └── UnusedInputError              a gradient asked for an input that is not used
    ├── TraceError                        a function becomes a graph
    │   ├── ConcretizationError           Python needs the value of a traced tensor
    │   ├── LastingHookError              a hook on a gradient that would outlive the traced function
    │   ├── LeakedTensorError             a tensor of a trace outlives it
    │   ├── UnguardedError                something that no call could look at again
    │   ├── VolatileError                 something that is another thing at each call
    │   │   └── EagerOnlyError            something that no graph can do, and Python can
    │   ├── UnreachableTensorError        a tensor that no path leads to
    │   ├── CapturedTensorChangedError    a branch or loop that changes what a tensor from outside shows
    │   ├── StaticArgumentError           an argument that cannot be a cache key
    │   ├── UnsupportedVariableError      an nnx.Variable that cannot be lifted
    │   ├── AttributeChangeError          an attribute that a later call could not change again
    │   ├── SignatureMismatchError        a stage called with other arguments
    │   ├── ModuleLiftError               a module whose state cannot become inputs
    │   └── ExportError                   a function that no exported graph can stand for
    │       └── LossError                 the output that is to be the loss cannot be one
    ├── CompilerError                     graphs
    │   ├── GraphCheckError               a malformed graph
    │   ├── PolicyError                   an unknown policy, or one that returns nonsense
    │   ├── BudgetError                   a memory budget that cannot be read or met
    │   ├── OffloadError                  values were to go to the host, and the device cannot
    │   ├── MissingExtraError             a package that draws pictures or proves guards is not installed
    │   ├── TagConflictError              a value that must be saved and must be recomputed
    │   ├── SettingsChangedError          a program under other settings of JAX than its own
    │   ├── CacheFolderError              a `cache_dir` that others may write to
    │   ├── CacheBypassError              a graph that no cache can keep, where that is an error
    │   ├── StaleWeightsError             a parameter of a frozen function that changed
    │   ├── WrongExecutableError          a program of XLA that does not compute what its graph says
    │   ├── UnsoundGuardsError            a program whose guards let calls in for which it was not made
    │   ├── NotDifferentiableError        nothing to differentiate
    │   ├── ForwardModeError              forward mode through a rule that has only the reverse
    │   ├── CompilerResultError           a compiler returned what does not compute its graph
    │   ├── PartitionResultError          a partition_fn returned what is no cut of its graph
    │   ├── DecompositionError            a decomposition computes something of another type
    │   └── OptionError                   an option of PyTorch's that has no meaning here
    ├── DuplicateOpError, SchemaError     the op table
    ├── ControlFlowMismatchError          branches, or what a loop carries, that do not agree
    ├── StateDictError                    a state dict that does not fit
    ├── SavedFileError                    a file of saved tensors that cannot be written or read
    ├── MissingNameError                  a name of PyTorch's that there is not here
    └── UnknownSettingError, UsageError   settings and the command line
        └── NothingToCheckError           a gradcheck that is to compare nothing

    RecompileWarning                      one argument makes a function compile again and again
    TracedPrintWarning                    a compiled function prints only when it is traced
    UnmatchedNamesWarning                 a policy mentions a name that no value has
    UnprovedGuardsWarning                 nothing is known of whether the guards of a program are sound
    UntriedVersionWarning                 Python or JAX is newer than all that was tried

Each subclasses the builtin that PyTorch raises in its place, so that habits still work. The docstring of a class is
its help page: cause, failing example, fix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxaot._graph_errors import BudgetError as BudgetError
from jaxaot._graph_errors import CacheBypassError as CacheBypassError
from jaxaot._graph_errors import CacheFolderError as CacheFolderError
from jaxaot._graph_errors import CompilerError as CompilerError
from jaxaot._graph_errors import CompilerResultError as CompilerResultError
from jaxaot._graph_errors import DecompositionError as DecompositionError
from jaxaot._graph_errors import ForwardModeError as ForwardModeError
from jaxaot._graph_errors import GraphCheckError as GraphCheckError
from jaxaot._graph_errors import JaxaotError as JaxaotError
from jaxaot._graph_errors import MissingExtraError as MissingExtraError
from jaxaot._graph_errors import NotDifferentiableError as NotDifferentiableError
from jaxaot._graph_errors import OffloadError as OffloadError
from jaxaot._graph_errors import OptionError as OptionError
from jaxaot._graph_errors import PartitionResultError as PartitionResultError
from jaxaot._graph_errors import PolicyError as PolicyError
from jaxaot._graph_errors import SettingsChangedError as SettingsChangedError
from jaxaot._graph_errors import StaleWeightsError as StaleWeightsError
from jaxaot._graph_errors import TagConflictError as TagConflictError
from jaxaot._graph_errors import UnsoundGuardsError as UnsoundGuardsError
from jaxaot._graph_errors import WrongExecutableError as WrongExecutableError
from jaxaot._warnings import RecompileWarning as RecompileWarning
from jaxaot._warnings import TracedPrintWarning as TracedPrintWarning
from jaxaot._warnings import UnmatchedNamesWarning as UnmatchedNamesWarning
from jaxaot._warnings import UnprovedGuardsWarning as UnprovedGuardsWarning
from jaxaot._warnings import UntriedVersionWarning as UntriedVersionWarning


class TensorError(JaxaotError, RuntimeError):
    """An eager operation on tensors that cannot be carried out."""


class ViewError(TensorError):
    """A view that strides cannot express.

    `x.t().view(-1)` asks for one dim over memory that is not contiguous. Use `x.t().reshape(-1)`, which copies where
    it must.
    """


class ShapeMismatchError(TensorError):
    """Operands whose shapes do not fit together, or an in-place op whose result would outgrow its target.

    `torch.zeros(3).add_(torch.zeros(2, 3))` cannot store a (2, 3) result in a (3,) tensor. Write `x = x + y`.
    """


class DtypeError(TensorError):
    """A result whose dtype cannot be stored where it should go.

    `ints.mul_(0.5)` would store floats in integers. Write `ints = ints * 0.5`, or convert with `.to(...)` first.
    """


class DeviceTypeError(TensorError, RuntimeError):
    """`autocast` was asked for a kind of device that there is not.

    Write `ja.autocast("cpu")`, `"cuda"`, `"gpu"` or `"tpu"`, without the number of a device; or `ja.autocast()`, for
    the device that JAX uses.
    """


class TensorTypeError(TensorError, TypeError):
    """A value of a kind that cannot be used there, such as an index that is a string."""


class TensorValueError(TensorError, ValueError):
    """A value that has no meaning there, such as an element of an empty tensor."""


class NoValueError(TensorError, NotImplementedError):
    """The value of a tensor on the device "meta" is needed, and such a tensor has a shape and a dtype only.

    Run the program on tensors with values, or do without the value: an `if` on a tensor, `x[mask]`, `.item()` and
    `print` of elements need it. `ja.empty_like(x, device="cpu")` makes memory of that shape, to be filled.
    """


class DiscardedParameterError(TensorError):
    """A parameter is read whose value `ja.freeze(…, discard=True)` let go.

    The frozen function has what it computed from it. Write the parameter anew, for instance by `load_state_dict`, or
    freeze without `discard` where the module is used besides.

        serve = ja.freeze(model, x, discard=True)
        model(x)         # the module has no values any more
        serve(x)
    """


class DeletedArrayError(TensorError):
    """A jax array without a value: it was donated to another computation, or deleted.

    `step = jax.jit(f, donate_argnums=0); step(a); ja.from_jax(a) + 1`. Use what the donating call returned, or copy the
    array before: `ja.tensor(a)`.
    """


class DimError(TensorError, IndexError):
    """A dim or an index that lies outside the tensor."""


class OverlappingWriteError(TensorError):
    """A write to a tensor in which several elements share one place in memory.

    `torch.zeros(1, 3).expand(2, 3).add_(1)` would add twice to each element. Call `.clone()` first.
    """


class StorageSizeError(TensorError):
    """A tensor that reaches beyond its storage, a part of one that was never written, or more bytes than there can be.

    After `x.untyped_storage().resize_(0)` the values of `x` are gone. Grow the storage and fill it before reading.
    `ja.zeros(2**31, 2**31)` has more bytes than memory has addresses.
    """


class SingularMatrixError(TensorError):
    """A matrix that has no inverse, no Cholesky factor, or no unique solution (`torch.linalg.LinAlgError`).

    Add a multiple of the identity, or use `ja.linalg.lstsq` or `ja.linalg.pinv`. The `_ex` forms return an `info`
    instead of raising. In a compiled graph the result is inf or NaN.
    """


class ArgumentError(TensorError, TypeError):
    """Arguments that do not fit the schema of the op."""


class AutogradError(JaxaotError, RuntimeError):
    """A gradient that cannot be computed or recorded."""


class LeafWriteError(AutogradError):
    """An in-place write to a leaf that requires grad, or to a view of one, while gradients are recorded.

    `w = ja.ones(3, requires_grad=True); w.add_(1)`. Write inside `with ja.no_grad():`, or out of place.
    """


class NoInputsError(AutogradError, ValueError):
    """`ja.autograd.grad(y, [])`: gradients with respect to nothing. Pass the tensors, `ja.autograd.grad(y, [w])`."""


class NoGradPathError(AutogradError):
    """`backward()` from a tensor that does not depend on anything that requires grad."""


class FrozenGradientError(AutogradError):
    """A gradient through a function that `ja.freeze` made, or a transformation of JAX over it.

    It computes with values made of the parameters, and no gradient leads back to these. Call the function that was
    frozen where gradients are wanted, or pass tensors that require none: `serve(x.detach())`.
    """


class BackwardTwiceError(AutogradError):
    """A second backward through a graph whose saved values were freed by the first.

    Pass `retain_graph=True` to the first.
    """


class RecomputeMismatchError(AutogradError):
    """A function run by `ja.checkpoint` did something else when the backward ran it again.

    What it does may depend on its arguments, on tensors and on random numbers, but not on what else changes between
    forward and backward: `if self.calls % 2: x = x.sin()` with a counter `self.calls`. Pass such values as arguments.
    """


class SavedTensorWrittenError(AutogradError):
    """A tensor that a backward needs was written in place since, and `ja.autograd.set_version_check("error")` is on.

    Values are immutable, so without the check the gradient of the values that were used is computed.
    """


class SavedTensorDetachedError(AutogradError):
    """A tensor that a backward needs was detached in place, and `ja.autograd.set_version_check("error")` is on.

    `y = x.sin(); x.detach_(); y.backward()`. Write `x = x.detach()`. Without the check the gradient is computed.
    """


class InferenceTensorError(AutogradError):
    """A tensor that was made in `inference_mode`, where gradients are recorded.

    `with ja.inference_mode(): c = ja.ones(3)`, and then `w * c` where `w` requires grad. Use `c.clone()`, or make it
    under `ja.no_grad()`.
    """


class SavedHooksError(AutogradError):
    """Hooks on a saved tensor that cannot be set: it was freed, has hooks already, or is None.

    `y.grad_fn._raw_saved_self.register_hooks(pack, unpack)` takes one pair, before the backward.
    """


class UntraceableHooksError(SavedHooksError):
    """Hooks on saved tensors around a function under `ja.remat` that no graph can carry out.

    `pack = lambda x: x.numpy()` asks for values, which a graph does not have. Write hooks that are functions of the
    tensor alone, such as `lambda x: x.to(ja.bfloat16)`.
    """


class PackedDerivativeError(SavedHooksError):
    """A second derivative of a function under `ja.remat` whose residuals were packed by hooks on saved tensors.

    Integers and rounded floats have no derivative. Call `jax.hessian(ja.remat(f))(x)` outside of the hooks.
    """


class SavedHooksDisabledError(SavedHooksError):
    """`saved_tensors_hooks` inside `disable_saved_tensors_hooks`, or the other way round."""


class AnomalyError(AutogradError):
    """A backward gives a NaN, and `ja.autograd.detect_anomaly()` is on.

    `x.sqrt() * 0` at `x = 0` has the gradient `0 * inf`. The message names the operation of the forward and its line.
    """


class HookResultError(AutogradError):
    """A hook on gradients that returned something of another size, type or number than what it replaces.

    `y.register_hook(lambda grad: grad.sum())`. Return a tensor of the gradient's shape and dtype, or None.
    """


class PackHookWroteError(AutogradError):
    """A pack hook that writes to the tensor that it gets.

    `pack = lambda x: x.mul_(2)`. Write `lambda x: x * 2`.
    """


class FunctionResultError(AutogradError):
    """A custom Function returns, saves or marks something that does not fit.

    `backward` returns a tensor or None for each argument of `forward`, of its shape or one that it expands to;
    `ctx.save_for_backward` takes tensors; what `ctx.mark_dirty` names is an argument and is returned.
    """


class MissingMethodError(AutogradError, NotImplementedError):
    """A custom Function is called, or differentiated, and has no method for that.

    `forward` computes, `backward` (or `vjp`) takes gradients back, `jvp` takes tangents along. Write the one that is
    missing, as a static method.

        class Double(ja.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return 2 * x

            @staticmethod
            def backward(ctx, gradient):
                return 2 * gradient
    """


class NoDerivativeError(AutogradError, NotImplementedError):
    """An op is differentiated that has no derivative, or none in forward mode, as in PyTorch.

    Detach the operand if it is to count as a constant; in place of forward mode use a backward.
    """


class GradientMismatchError(AutogradError):
    """`ja.autograd.gradcheck` found a backward that is wrong, or a function that it cannot check.

    `ja.autograd.gradcheck(MyFunction.apply, x)` compares the gradients of the tape with finite differences. Look at the
    `backward` of the custom Function that it names the output of. If the function is not smooth at that point, as
    `abs` at 0, check it elsewhere; if numbers are short, use float64 or larger tolerances.
    """


class DualTensorError(AutogradError):
    """A dual tensor that cannot be made, or an op without a forward-mode derivative.

    `ja.autograd.forward_ad.make_dual(x, direction)` outside of `with ja.autograd.forward_ad.dual_level():`, inside of
    two of them, or of a tensor that is dual already. Higher derivatives in forward mode: `ja.func.jvp`, which nests.
    """


class ScalerOrderError(AutogradError):
    """The calls of a `GradScaler` did not follow one another as they have to in an iteration.

    In each, after `scaler.scale(loss).backward()`: at most one `unscale_` and then one `step` for every optimizer, and
    one `update` at the end.
    """


class UnusedInputError(AutogradError):
    """`autograd.grad` was asked for the gradient of an input that the output does not depend on.

    Pass `allow_unused=True` to get `None` for it.
    """


class IndependentInputError(AutogradError):
    """A function of `ja.autograd.functional` whose output does not depend on an input, with `strict=True`.

    `ja.autograd.functional.hessian(lambda x: (2 * x).sum(), x, strict=True)`: the gradient is 2 whatever `x` is. Leave
    `strict` out to get zeros.
    """


class TraceError(JaxaotError, RuntimeError):
    """A function that could not be turned into a graph."""


class ConcretizationError(TraceError, TypeError):
    """Python asked for the value of a tensor that is only a symbol during tracing.

    `if x.sum() > 0`, `while err > tol`, `int(n)`, `.item()`, `.tolist()` and `x.nonzero()` ask for values. Compute with
    tensors (`ja.where`, `ja.cond`, `ja.while_loop`), pass the value as a Python argument, or compile the function in
    segments, between which Python has the values: `ja.compile(fn, segments=True)`.
    """


class LastingHookError(TraceError):
    """A hook on a gradient, or `retain_grad`, inside of a traced function, which a backward outside would have to call.

    `y = x * 2; y.register_hook(hook); return y.sum()`. Register hooks on what the function takes and returns, outside
    of it; or run the backward inside, which calls them, and take them away before the function returns.
    """


class LeakedTensorError(TraceError):
    """A tensor made during a trace was used, or is still held, after the trace ended.

    What a compiled function keeps in attributes, lists and variables is live after each call. Not so what it puts into
    an object that cannot be looked into, such as a queue, or what the body of a control flow call keeps.
    """


class UnguardedError(TraceError):
    """A compiled function reads of Python what no call could look at again.

    A list, dict or set of more than 100,000 items is one. Keep them in an array, or say that they never change while
    their number does not: `ja.config(trust_large_containers=True)`.
    """


class VolatileError(TraceError):
    """A function reads what is another thing at each call: an iterator, Python's random numbers, a clock, a file.

    `ja.compile` runs such a function eagerly, after a warning; `ja.trace` raises.
    """

    def __init__(self, reason: str, advice: str = "", is_break: bool = False):
        """Says what it reads, what to write instead, and whether `segments=True` makes a break of it."""
        super().__init__(reason, advice)
        self.reason, self.advice, self.is_break = reason, advice, is_break

    def __str__(self) -> str:
        return f"{self.reason}. {self.advice}" if self.advice else self.reason


class EagerOnlyError(VolatileError):
    """A function does what no graph can do for later calls: its backward writes to a tensor, or `set_` joins two.

    `ja.compile` runs such a function eagerly, after a warning; `ja.trace` raises.

        class Counting(ja.autograd.Function):
            @staticmethod
            def backward(ctx, gradient):
                calls.add_(1)                # a tensor from outside: return what is to be added instead
                return gradient
    """


class UnreachableTensorError(TraceError):
    """A function read a tensor that is neither an argument nor reachable from its closure, globals or `self`."""


class CapturedTensorChangedError(TraceError):
    """The function of a `cond`, `while_loop`, `scan` or `map` changed more of a tensor from outside than its values.

    `ja.cond(p, lambda: x.t_(), lambda: x)` would leave `x` transposed or not, as a value says that is only known when
    the compiled graph runs. Return the view instead, or change the tensor before or after.
    """


class StaticArgumentError(TraceError, TypeError):
    """A non-tensor argument that is not hashable, so that it cannot be part of a cache key."""


class UnsupportedVariableError(TraceError, TypeError):
    """An `nnx.Variable` of a sort that cannot become an input of a graph.

    Variables made with `ref=True` or `hijax=True` hold mutable arrays of JAX. Leave both out.
    """


class AttributeChangeError(TraceError):
    """A traced function put something into an attribute, a list or a variable that a later call could not make again.

    Tensors, arrays, plain values, containers of them, objects of classes of your own and nnx modules are carried out at
    every call. A function, an iterator, a file, or one Variable in two modules is not: assign it outside, or return it.
    """


class SignatureMismatchError(TraceError, TypeError):
    """A compiled stage was called with arguments other than those it was traced for."""


class ModuleLiftError(TraceError, TypeError):
    """An object whose parameters and buffers cannot become inputs, or that changed its structure during a call.

    `ja.aot.aot_module` takes objects that hold tensors and can be called, flax nnx modules, and flax linen modules with
    their variables: `ja.aot.aot_module(module, compiler, variables=variables)`.
    """


class ExportError(TraceError):
    """A function that no exported graph can stand for.

    A graph of values cannot resize a storage, hold an input without bytes, or, where the calling convention of the
    function is to be kept (`aot_export_joint_simple`), write to its inputs.
    """


class LossError(ExportError):
    """The output that `output_loss_index` names cannot be the loss: it is missing, not a scalar, or needs no gradient.

    `ja.aot.aot_export_module(model, (x,), trace_joint=True, output_loss_index=0)` needs a model whose first output is
    a float tensor of one element that depends on a parameter.
    """


class ControlFlowMismatchError(JaxaotError, TypeError):
    """Branches of a `cond` that return different things, or a loop whose function changes the kind of what it carries.

    `ja.scan(lambda c, x: (c + x, None), 0, ja.ones(3))` starts from an integer and goes on with a float. Write
    `ja.tensor(0.0)`.
    """


class SchemaError(JaxaotError, ValueError):
    """A row of the op table whose schema cannot be parsed."""


class DuplicateOpError(JaxaotError, ValueError):
    """Two rows of the op table claim one name."""


class StateDictError(JaxaotError, RuntimeError, ValueError):
    """A state dict whose names, shapes or groups are not those of the module or optimizer that is to load it.

    Nothing is loaded then. `model.load_state_dict(state, strict=False)` loads what has the same name and returns the
    names that are missing or unexpected.

        model = ja.nn.Linear(4, 2)
        model.load_state_dict({"weight": ja.ones(2, 4)})  # `bias` is missing
        model.load_state_dict({"weight": ja.ones(2, 4)}, strict=False)
    """


class SavedFileError(JaxaotError, RuntimeError, ValueError):
    """A value that `ja.save` cannot write, or a file that `ja.load_state` cannot read.

    Files hold tensors, arrays, numbers, strings, bools, None, and lists, tuples and dicts of them. Other objects have
    state dicts: save these, `ja.save(model.state_dict(), path)`. A damaged file was cut off or changed since.
    """


class MissingNameError(JaxaotError, AttributeError):
    """A name that PyTorch has and jaxaot has not, or an attribute that a module does not have.

    x.cuda()                        # the message says what to write: arrays live on the first accelerator already
    x.to(jax.devices("gpu")[0])
    """


class UnknownSettingError(JaxaotError, TypeError):
    """A setting that does not exist."""

    def __init__(self, unknown: Sequence[str], known: Sequence[str]):
        super().__init__(
            f"Unknown setting {', '.join(map(repr, unknown))}. The settings are: {', '.join(known)}. "
            "Write for instance `with ja.config(policy='save_all'): ...`."
        )
        self._arguments = tuple(unknown), tuple(known)

    def __reduce__(self) -> Any:
        return type(self), self._arguments, self.__dict__


class UsageError(JaxaotError, ValueError):
    """The command line was given something it cannot use."""


class NothingToCheckError(UsageError, AssertionError):
    """`ja.autograd.gradcheck` was told to compare nothing.

    `ja.autograd.gradcheck(f, x, check_backward_ad=False)`. Pass `check_forward_ad=True`, or leave `check_backward_ad`.
    """
