"""The tensor that PyTorch's code sees: a `torch.Tensor` without memory of its own that stands for one of jaxaot's.

Terms: the *handle* is the `torch.Tensor`; what it *holds* is the tensor of jaxaot, under `__wrapped__`. There is one
handle for each tensor as long as somebody keeps it, so Parameters, keys of an optimizer's state and `is` work. The
*shell* is what C++ sees of a handle: a shape and a dtype on the device `"meta"`, and nothing to read or write.

PyTorch sends what is called with a handle to `__torch_function__`, where a function of jaxaot's of the same name does
it. What gets past that reaches `__torch_dispatch__`, which refuses it by name, so nothing is done to the shell.
"""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from jaxaot.bridge.library import DEVICE, SHELL, TO_TORCH, torch
from jaxaot.errors import NoCounterpartError
from jaxaot.facade.memory.tensor import Tensor as Held
from jaxaot.tape.modes import state

_C = torch._C
_base = torch.Tensor
_without_override = _C.DisableTorchFunctionSubclass
_known: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
_IN_SHELL = {"__wrapped__", "_is_param", "_is_buffer", "persistent"}


class Handlers(dict[Any, Callable[..., Any]]):
    """Function of PyTorch → what does it here; `find` says so when it is first called."""

    find: Callable[[Any], Callable[..., Any]]

    def __missing__(self, function: Any) -> Callable[..., Any]:
        found = self[function] = self.find(function)
        return found


HANDLERS = Handlers()
ADOPT: list[Callable[[Any, Any], None]] = []
"""What takes a result of a `torch.autograd.Function` onto jaxaot's tape: called with the handle and its C++ node."""
MAKING: list[Callable[[], Any]] = []
"""What makes the mode in which factories make tensors on JAX."""
IN_MODES: list[Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]] = []
"""What runs a handler in the modes that PyTorch is in."""


def call(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Returns what a function of PyTorch returns for handles."""
    return IN_MODES[0](HANDLERS[function], args, kwargs)


def _of(name: str) -> property:
    return property(lambda self: getattr(held_by(self), name))


class Tensor(_base):
    """A `torch.Tensor` on JAX; `ja.torch.to_jax` and `ja.torch.to_torch` take it to a tensor of jaxaot or PyTorch."""

    @staticmethod
    def __new__(cls, held: Held) -> Any:
        return handle_of(held)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return IN_MODES[0](HANDLERS[func], args, kwargs or {})

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func._schema.name.removeprefix("aten::")
        if name in ("detach", "view_as", "alias"):  # how C++ keeps what a custom Function saves or returns
            return handle_of(args[0].__wrapped__.detach())
        if name == "_local_scalar_dense":  # a number among arguments, such as that of `torch.full`
            return held_by(args[0]).item()
        raise NoCounterpartError(
            f"`{func._schema.name}` was called in C++ with a tensor that is on JAX, where nothing stands for it. Call "
            "the function of Python's that has its name, or move the tensor: `ja.torch.to_torch(x)`."
        )

    @property
    def shape(self) -> Any:
        return torch.Size(held_by(self)._layout.size)

    @property
    def dtype(self) -> Any:
        return TO_TORCH[self.__wrapped__._layout.dtype]

    @property
    def device(self) -> Any:
        # what a trace computes has no values yet, and is on JAX: factories in PyTorch's code ask for its device
        return torch.device("meta") if state.trace is None and self.__wrapped__._is_without_values else DEVICE

    layout = property(lambda self: torch.strided)
    ndim = property(lambda self: len(self.__wrapped__._layout.size))
    is_leaf = _of("is_leaf")
    is_xla = property(lambda self: True)
    itemsize = property(lambda self: self.__wrapped__.itemsize)
    nbytes = property(lambda self: self.__wrapped__.nbytes)

    @property
    def requires_grad(self) -> bool:
        return held_by(self).requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        held_by(self).requires_grad_(bool(value))

    @property
    def grad(self) -> Any:
        found = held_by(self).grad
        return None if found is None else handle_of(found)

    @grad.setter
    def grad(self, value: Any) -> None:
        held_by(self).grad = None if value is None else HANDLERS[held_by](value)

    @grad.deleter
    def grad(self) -> None:
        held_by(self).grad = None

    @property
    def data(self) -> Any:
        return handle_of(held_by(self).data)

    @data.setter
    def data(self, value: Any) -> None:
        held_by(self).data = HANDLERS[held_by](value)

    def size(self, dim: Any = None) -> Any:
        """Returns the shape, or the size of a dim."""
        return self.shape if dim is None else held_by(self).size(dim)

    def dim(self) -> int:
        """Returns the number of dims."""
        return len(self.__wrapped__._layout.size)

    def numel(self) -> int:
        """Returns the number of elements."""
        return self.__wrapped__.numel()

    def __len__(self) -> int:
        return len(self.__wrapped__)

    def __repr__(self, *, tensor_contents: object = None) -> str:
        text = repr(held_by(self))
        return f"Parameter on JAX: {text}" if self.__dict__.get("_is_param") else text

    __hash__ = object.__hash__

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            copied = memo[id(self)] = handle_of(self.__wrapped__.__deepcopy__(memo))
            more = {name: value for name, value in self.__dict__.items() if name != "__wrapped__"}
            copied.__dict__.update(copy.deepcopy(more, memo))
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Files and pickles hold PyTorch's tensors, so they are read where there is no JAX."""
        return HANDLERS["pickled"](self).__reduce_ex__(protocol)

    def set_(self, *args: Any) -> Any:
        """Shows the memory of another tensor from now on; C++ would do that to the shell."""
        return call(_base.set_, (self, *args), {})


def handle_of(held: Held) -> Any:
    """Returns the handle of a tensor of jaxaot: the same one as long as somebody keeps it."""
    found = _known.get(id(held))
    if found is not None and found.__wrapped__ is held:
        if not held._layout.size and held.requires_grad:  # it may have been written since
            with _without_override():
                _base.requires_grad.__set__(found, True)
        return found
    layout = held._layout
    found = _base._make_wrapper_subclass(
        Tensor,
        layout.size,
        dtype=TO_TORCH[layout.dtype],
        device=SHELL,
        # To C++ all may have gradients: then it gives the results of custom Functions a node, which `ADOPT` takes over.
        # A single number that has none may be an argument such as `alpha`.
        requires_grad=layout.dtype.kind not in "iub" and (bool(layout.size) or held.requires_grad),
    )
    found.__dict__["__wrapped__"] = held
    _known[id(held)] = found
    return found


def held_by(handle: Any) -> Held:
    """Returns the tensor of jaxaot that a handle stands for."""
    held = handle.__wrapped__
    if (not held.requires_grad or "_may_be_result" in handle.__dict__) and held._layout.dtype.kind not in "iub":
        with _without_override():
            node = _base.grad_fn.__get__(handle)
        if node is not None:
            ADOPT[0](handle, node)
            return handle.__wrapped__
    return held


def with_held(handle: Any, held: Held) -> None:
    """Has a handle stand for another tensor."""
    if handle.__wrapped__ is not held:
        _known.pop(id(handle.__wrapped__), None)
        handle.__wrapped__ = held
        _known[id(held)] = handle


def handles_of(node: Any, among: Any = None) -> list[tuple[int, Any]]:
    """Returns the handles that a C++ node is the node of, with the number of its output that each is."""
    with _without_override():
        found = [(handle, _base.grad_fn.__get__(handle)) for handle in among or list(_known.values())]
        return [(_base.output_nr.__get__(handle), handle) for handle, of in found if of is node]


def forget_node(handle: Any) -> None:
    """Takes its C++ node from a handle."""
    with _without_override():
        _base.detach_(handle)
        _base.requires_grad.__set__(handle, True)


jax.tree_util.register_pytree_node(
    Tensor,
    lambda handle: ((held_by(handle),), tuple(kv for kv in handle.__dict__.items() if kv[0] in ("_is_param",))),
    lambda attributes, held: _again(held[0], attributes),
)


def _again(held: Any, attributes: tuple[tuple[str, Any], ...]) -> Any:
    if not isinstance(held, Held):  # a transformation of JAX puts other things there
        return held
    handle = handle_of(held)
    handle.__dict__.update(attributes)
    return handle


def shown_dtype(held: Held) -> np.dtype:
    """Returns the dtype of a tensor of jaxaot as NumPy's."""
    return held._layout.dtype
