"""What jaxaot raises, why, and what to write instead.

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
    │   ├── PlacementError                a placement that does not fit the tensor or the devices
    │   ├── UnfinishedSumError            a sum over devices, used before it was finished
    │   ├── DeletedArrayError             a jax array whose buffer was donated or deleted
    │   ├── CheckError                    a condition that was to hold, and does not
    │   ├── SubclassError                 a subclass of Tensor that does not say what it has to
    │   │   └── MissingMemoryError        memory was asked of a tensor that is made of others
    │   ├── ForeignTensorError            a tensor of PyTorch's among tensors on JAX
    │   ├── NoCounterpartError            a function of PyTorch's for which there is nothing on JAX
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
    │   ├── OutsideContextError           a backward outside of `allow_mutation_on_saved_tensors`
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
    │   ├── TracedPlacementError          where a traced tensor lies, which each call may answer otherwise
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
    │   ├── OptionError                   an option of PyTorch's that has no meaning here
    │   └── UnpicklableError              graphs and executables were pickled
    ├── DuplicateOpError, SchemaError     the op table
    ├── ControlFlowMismatchError          branches, or what a loop carries, that do not agree
    ├── StateDictError                    a state dict that does not fit
    ├── SavedFileError                    a file of saved tensors that cannot be written or read
    │   └── ArchiveError                  an archive of a function that cannot be read
    ├── MissingNameError                  a name of PyTorch's that there is not here
    ├── MissingModuleError                an import line that names what is not here
    └── UnknownSettingError, UsageError   settings and the command line
        └── NothingToCheckError           a gradcheck that is to compare nothing

    RecompileWarning                      one argument makes a function compile again and again
    TracedPrintWarning                    a compiled function prints only when it is traced
    UnmatchedNamesWarning                 a policy mentions a name that no value has
    UnprovedGuardsWarning                 nothing is known of whether the guards of a program are sound
    UntriedVersionWarning                 Python or JAX is newer than all that was tried

Each subclasses the builtin that PyTorch raises in its place, so that habits still work. The docstring of a class is
its help page: cause, failing example, fix.

In the examples `ja` is jaxaot, `jnp` is `jax.numpy`. The line that names the error raises it; what follows is what to
write instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# each module holds the classes of a part of the tree above, and nothing else that has no underscore
from jaxaot.errors.gradients import *  # noqa: F403
from jaxaot.errors.graphs import *  # noqa: F403
from jaxaot.errors.graphs import JaxaotError as JaxaotError
from jaxaot.errors.traces import *  # noqa: F403
from jaxaot.errors.warnings import *  # noqa: F403


class TensorError(JaxaotError, RuntimeError):
    """An eager operation on tensors that cannot be carried out."""


class ViewError(TensorError):
    """A view that strides cannot express.

    For example:

        x = ja.zeros(2, 3).t()
        x.view(-1)                              # ViewError
        x.reshape(-1)                           # copies where it must
    """


class ShapeMismatchError(TensorError):
    """Operands whose shapes do not fit together, or an in-place op whose result would outgrow its target.

    For example:

        x, y = ja.zeros(3), ja.zeros(2, 3)
        x.add_(y)                               # ShapeMismatchError
        x = x + y
    """


class DtypeError(TensorError):
    """A result whose dtype cannot be stored where it should go.

    For example:

        counts = ja.tensor([1, 2])
        counts.mul_(0.5)                        # DtypeError
        counts = counts * 0.5
    """


class DeviceTypeError(TensorError, RuntimeError):
    """`autocast` was asked for a kind of device that there is not.

    Write `ja.autocast("cpu")`, `"cuda"`, `"gpu"` or `"tpu"`, without the number of a device; or `ja.autocast()`, for
    the device that JAX uses.

        ja.autocast("cuda:0")                   # DeviceTypeError
        ja.autocast("cuda")
    """


class TensorTypeError(TensorError, TypeError):
    """A value of a kind that cannot be used there, such as an index that is a string.

    For example:

        x = ja.zeros(2, 3)
        x["first"]                              # TensorTypeError
        x[0]
    """


class TensorValueError(TensorError, ValueError):
    """A value that has no meaning there, such as an element of an empty tensor.

    For example:

        ja.cat([])                              # TensorValueError
        ja.cat([ja.zeros(2)])
    """


class NoValueError(TensorError, NotImplementedError):
    """The value of a tensor on the device "meta" is needed, and such a tensor has a shape and a dtype only.

    Run the program on tensors with values, or do without the value: an `if` on a tensor, `x[mask]`, `.item()` and
    `print` of elements need it. `ja.empty_like(x, device="cpu")` makes memory of that shape, to be filled.

        x = ja.empty(3, device="meta")
        x.sum().item()                          # NoValueError
        ja.zeros_like(x, device="cpu").sum().item()
    """


class PlacementError(TensorError, ValueError, AttributeError):
    """A placement that does not fit a tensor, or a mesh that does not fit the devices.

    `distribute_tensor(x, mesh, [Shard(0)])` with 10 rows over 4 devices leaves a rest. Shard a dim that the number of
    devices divides, pad the tensor, or write `Replicate()`.

        from jaxaot.distributed import Replicate, Shard, distribute_tensor, init_device_mesh
        mesh = init_device_mesh("cpu", (1,), mesh_dim_names=("dp",))
        distribute_tensor(ja.ones(4, 2), mesh, [Shard(2)])    # PlacementError
        distribute_tensor(ja.ones(4, 2), mesh, [Shard(1)])
    """

    def __init__(self, *args: object):
        super().__init__(*args)
        self.name = ""  # Python would add a name that it finds alike, behind the full stop


class UnfinishedSumError(TensorError, TypeError):
    """A tensor of which each device holds one term of a sum, used as if it held the sum.

    Finish the sum first: `x.redistribute(mesh, [Replicate()])`, or `[Shard(0)]`, which sums and keeps a part for each
    device.

        from jaxaot.distributed import Partial, Replicate, from_local, init_device_mesh
        mesh = init_device_mesh("cpu", (1,), mesh_dim_names=("dp",))
        part = from_local(ja.ones(4), mesh, [Partial()])
        part * 2                                        # UnfinishedSumError
        part.redistribute(mesh, [Replicate()]) * 2
    """


class ForeignTensorError(TensorError):
    """A tensor of PyTorch's own among tensors on JAX, or in a compiled function, which would keep its value for ever.

    Move it: `ja.torch.to_jax(x)`; modules and optimizers: `ja.torch.move(module)`.

        import torch
        x = ja.torch.to_jax(torch.ones(3))
        x + torch.ones(3)                       # ForeignTensorError
        x + ja.torch.to_jax(torch.ones(3))
    """


class NoCounterpartError(TensorError, NotImplementedError):
    """A function of PyTorch's that was called with a tensor on JAX, where there is nothing that does the same.

    Kernels, sparse, nested and quantized tensors are among these. Move the tensor, or write what JAX has.

        import torch
        x = ja.torch.to_jax(torch.ones(3))
        x.to_sparse()                           # NoCounterpartError
        ja.torch.to_torch(x).to_sparse()
    """


class DiscardedParameterError(TensorError):
    """A parameter is read whose value `ja.compiler.freeze(…, discard=True)` let go.

    The frozen function has what it computed from it. Write the parameter anew, for instance by `load_state_dict`, or
    freeze without `discard` where the module is used besides.

        model, x = ja.nn.Linear(2, 3), ja.ones(2)
        serve = ja.compiler.freeze(model, x, discard=True)
        model(x)                                        # DiscardedParameterError
        serve(x)
    """


class DeletedArrayError(TensorError):
    """A jax array without a value: it was donated to another computation, or deleted.

    For example:

        step = jax.jit(lambda a: a + 1, donate_argnums=0)
        a = jnp.ones(3)
        b = step(a)
        ja.interop.from_jax(a) + 1                      # DeletedArrayError
        ja.interop.from_jax(b) + 1
    """


class DimError(TensorError, IndexError):
    """A dim or an index that lies outside the tensor.

    For example:

        x = ja.zeros(2, 3)
        x.sum(2)                                # DimError
        x.sum(-1)
    """


class OverlappingWriteError(TensorError):
    """A write to a tensor in which several elements share one place in memory.

    For example:

        x = ja.zeros(1, 3).expand(2, 3)
        x.add_(1)                               # OverlappingWriteError
        x.clone().add_(1)
    """


class StorageSizeError(TensorError):
    """A tensor that reaches beyond its storage, a part of one that was never written, or more bytes than there can be.

    After `x.untyped_storage().resize_(0)` the values of `x` are gone. Grow the storage and fill it before reading.
    `ja.zeros(2**31, 2**31)` has more bytes than memory has addresses.

        x = ja.ones(4)
        x.untyped_storage().resize_(0)
        x + 1                                   # StorageSizeError
        x.untyped_storage().resize_(16)
        x.fill_(1)
    """


class SingularMatrixError(TensorError):
    """A matrix that has no inverse, no Cholesky factor, or no unique solution (`torch.linalg.LinAlgError`).

    Add a multiple of the identity, or use `ja.linalg.lstsq` or `ja.linalg.pinv`. The `_ex` forms return an `info`
    instead of raising. In a compiled graph the result is inf or NaN.

        matrix = ja.zeros(2, 2)
        ja.linalg.inv(matrix)                   # SingularMatrixError
        ja.linalg.pinv(matrix)
    """


class CheckError(TensorError):
    """A condition does not hold that `ja.sizes.check` was to make sure of.

    Pass what the function is made for, or check something else.

        x = ja.ones(600)
        ja.sizes.check(x.shape[0] <= 512)                     # CheckError
        ja.sizes.check(x[:512].shape[0] <= 512)
    """


class SubclassError(TensorError, TypeError):
    """A subclass of Tensor that does not keep to the protocol, or that was asked for what it does not say.

    An op that `__tensor_dispatch__` does not know, inner tensors that are none, a gradient of another kind than the
    output. The message names the class and the method; docs/subclasses.md has the protocol.

        class Pair(ja.Tensor):                          # SubclassError
            def __tensor_flatten__(self):
                return ["a", "b"], None
        from jaxaot.subclasses import TwoTensor
        pair = TwoTensor(ja.ones(2), ja.ones(2)) * 2
    """


class MissingMemoryError(SubclassError, AttributeError):
    """Something that needs memory was asked of a tensor that is made of inner tensors.

    A wrapper has no storage of its own. Ask the inner tensors.

        from jaxaot.subclasses import TwoTensor
        pair = TwoTensor(ja.ones(2), ja.ones(2))
        pair.untyped_storage()                          # MissingMemoryError
        pair.a.untyped_storage()
    """

    def __init__(self, *args: object):
        super().__init__(*args)
        self.name = ""  # Python would add a name that it finds alike, behind the full stop


class ArgumentError(TensorError, TypeError):
    """Arguments that do not fit the schema of the op.

    For example:

        ja.exp("1")                             # ArgumentError
        ja.exp(ja.tensor(1.0))
    """


class ControlFlowMismatchError(JaxaotError, TypeError):
    """Branches of a `cond` that return different things, or a loop whose function changes the kind of what it carries.

    For example:

        ja.scan(lambda c, x: (c + x, None), 0, ja.ones(3))    # ControlFlowMismatchError
        ja.scan(lambda c, x: (c + x, None), ja.tensor(0.0), ja.ones(3))
    """


class SchemaError(JaxaotError, ValueError):
    """A row of the op table whose schema cannot be parsed.

    For example:

        from jaxaot.ops.schema import parse_schema
        parse_schema("double(Tensor) -> Tensor")    # SchemaError
        parse_schema("double(Tensor self) -> Tensor")
    """


class DuplicateOpError(JaxaotError, ValueError):
    """Two rows of the op table claim one name.

    For example:

        from jaxaot.ops.table import register_op
        register_op("sin(Tensor self) -> Tensor")(jnp.sin)    # DuplicateOpError
    """


class StateDictError(JaxaotError, RuntimeError, ValueError):
    """A state dict whose names, shapes or groups are not those of the module or optimizer that is to load it.

    Nothing is loaded then. `model.load_state_dict(state, strict=False)` loads what has the same name and returns the
    names that are missing or unexpected.

        model = ja.nn.Linear(4, 2)
        model.load_state_dict({"weight": ja.ones(2, 4)})    # StateDictError: `bias` is missing
        model.load_state_dict({"weight": ja.ones(2, 4)}, strict=False)
    """


class SavedFileError(JaxaotError, RuntimeError, ValueError):
    """A value that `ja.save` cannot write, or a file that `ja.load` cannot read.

    Files hold tensors, arrays, numbers, strings, bools, None, and lists, tuples and dicts of them. Other objects are
    pickled, and read where the file is trusted, as reading them runs code. Save state dicts, `model.state_dict()`. A
    damaged file was cut off or changed since.

        model = ja.nn.Linear(4, 2)
        ja.save({"model": model}, "model.safetensors")
        ja.load("model.safetensors")                       # SavedFileError
        ja.load("model.safetensors", weights_only=False)
    """


class ArchiveError(SavedFileError):
    """An archive of a function that `ja.load` cannot read: it is damaged, incomplete, or of a later format.

    Archives are written by `ja.export(fn, *args).save(path)`. Every part of one has a checksum, so what was cut off or
    changed since is found before anything of it is used. The message says which part it is.

        model = ja.nn.Linear(4, 2)
        ja.export(model, ja.ones(4)).save("model.jaxaot", weights=False)
        ja.load("model.jaxaot")                         # ArchiveError
        ja.load("model.jaxaot", weights=model.state_dict())
    """


class MissingNameError(JaxaotError, AttributeError):
    """A name that PyTorch has and jaxaot has not, or an attribute that a module does not have.

    For example:

        x = ja.ones(3)
        x.to_sparse()                           # MissingNameError
        x.jax()
    """


class MissingModuleError(JaxaotError, ModuleNotFoundError):
    """An import line that names what PyTorch has and jaxaot has not.

    For example:

        from jaxaot.nn.parallel import DistributedDataParallel      # MissingModuleError
        from jaxaot.distributed import fully_shard
    """


class UnknownSettingError(JaxaotError, TypeError):
    """A setting that does not exist.

    For example:

        with ja.config(polcy="save_all"): pass  # UnknownSettingError
        with ja.config(policy="save_all"):
            pass
    """

    def __init__(self, unknown: Sequence[str], known: Sequence[str]):
        super().__init__(
            f"Unknown setting {', '.join(map(repr, unknown))}. The settings are: {', '.join(known)}. "
            "Write for instance `with ja.config(policy='save_all'): ...`."
        )
        self._arguments = tuple(unknown), tuple(known)

    def __reduce__(self) -> Any:
        return type(self), self._arguments, self.__dict__


class UsageError(JaxaotError, ValueError):
    """The command line was given something it cannot use.

    For example:

        f = ja.remat(lambda x, flag: x * flag, static_argnames="falg")    # UsageError
        f = ja.remat(lambda x, flag: x * flag, static_argnames="flag")
    """


class NothingToCheckError(UsageError, AssertionError):
    """`ja.autograd.gradcheck` was told to compare nothing.

    For example:

        x = ja.ones(3, requires_grad=True)
        ja.autograd.gradcheck(ja.sin, x, check_backward_ad=False)    # NothingToCheckError
        ja.autograd.gradcheck(ja.sin, x, eps=1e-2, atol=1e-2)
    """


def __dir__() -> list[str]:
    return sorted(name for name, value in globals().items() if isinstance(value, type) and value.__module__ == __name__)
