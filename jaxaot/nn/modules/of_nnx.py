"""`from_nnx(module)`: a flax nnx module as a module of tensors.

Each array that the nnx module holds becomes a tensor: of a Param a parameter, of any other Variable a buffer. A call
runs the nnx module on their arrays, as one operation of the tape, and writes into the buffers what it wrote.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import jax
import jax.numpy as jnp

from jaxaot.errors import ModuleLiftError
from jaxaot.facade.cells.cells import CellKind, cell_kinds, child_of, kind_of
from jaxaot.facade.dispatch.create import from_jax
from jaxaot.facade.marks.trees import KeyWords
from jaxaot.nn.modules.module import Module
from jaxaot.nn.parameter import Buffer, Parameter
from jaxaot.ops.promotion import is_inexact
from jaxaot.tape.modes import no_grad
from jaxaot.transforms.functional_call import functional_call


class FromNnx(Module):
    """An nnx module, or a part of one, on tensors; `from_nnx` makes it.

    Its parts have the names of the attributes that hold them, `net.encoder`, and can be called as well.
    """

    _module: Any
    _places: tuple[tuple[str, Module, str, str | None], ...]

    def __init__(self, module: object) -> None:
        super().__init__()
        self._module = module
        self._places = ()

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        state: dict[str, Any] = {}
        for name, part, attribute, impl in self._places:
            tensor = getattr(part, attribute)
            state[name] = tensor if impl is None else KeyWords(tensor, impl)
        before = dict(state)
        result = functional_call(self._module, state, args, kwargs)
        with no_grad():
            for name, part, attribute, impl in self._places:
                after = state[name]
                if after is not before[name]:
                    words = after if impl is None else from_jax(jax.random.key_data(after))
                    getattr(part, attribute).copy_(words)
        return result

    def train(self, mode: bool = True) -> Self:
        """Puts the module and all below it in training or evaluation mode, as nnx does; returns it."""
        super().train(mode)
        switch = getattr(self._module, "train" if mode else "eval", None)
        if switch is not None:
            switch()
        return self

    def __getitem__(self, key: int | str) -> Module:
        """Returns the part under a key of a list or dict of nnx."""
        part: Module = self._modules[str(key)]
        return part

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def to_nnx(self) -> Any:
        """Returns the nnx module, into which the present values have been written."""
        kind = kind_of(self._module)
        assert kind is not None, "an nnx module is of a kind"
        structure, _ = kind.take_apart((self._module,))
        numbers = {name: i for i, (name, _) in enumerate(kind.leaves(structure))}
        values: dict[int, Any] = {}
        for name, part, attribute, impl in self._places:
            value = getattr(part, attribute).detach().jax()
            values[numbers[name]] = value if impl is None else jax.random.wrap_key_data(value, impl=impl)
        kind.write_arrays((self._module,), structure, values)
        return self._module

    def extra_repr(self) -> str:
        return type(self._module).__name__


def from_nnx(module: Any) -> FromNnx:
    """Returns a flax nnx module as a module of tensors, with parameters, buffers, `state_dict` and modes.

        net = ja.nn.from_nnx(nnx.Linear(4, 2, rngs=nnx.Rngs(0)))
        optimizer = ja.optim.AdamW(net.parameters(), lr=1e-3)
        net(x).sum().backward()
        optimizer.step()
        model = net.to_nnx()

    Parameters start from the arrays of the Params and are then tensors of their own, named by the paths of nnx. Other
    Variables, such as statistics and the counters of random numbers, are buffers; calls write into them.

    Args:
      module: The nnx module. `net.to_nnx()` writes the present values back into it.

    Raises:
      ModuleLiftError: If it is no nnx module, or a Param holds something other than one array.
    """
    cell_kinds()
    kind = kind_of(module)
    if kind is None or not isinstance(module, kind.object_types) or not callable(module):
        raise ModuleLiftError(
            f"`ja.nn.from_nnx` takes a flax nnx module, and was given a {type(module).__name__}. linen modules are "
            "functions of their variables: `ja.autograd.jax_function(model.apply)(variables, x)`."
        )
    return _Maker(kind).part(module)


class _Maker:
    """Makes the parts of one module, each once."""

    def __init__(self, kind: CellKind) -> None:
        self.kind = kind
        self.parts: dict[int, FromNnx] = {}
        self.owners: dict[int, tuple[Module, str, str | None]] = {}

    def part(self, module: object) -> FromNnx:
        """Returns the part for an object, with all parts below it."""
        found = self.parts.get(id(module))
        if found is not None:
            return found
        made = self.parts[id(module)] = FromNnx(module)
        places = []
        for path, cell in self.kind.cells(module):
            if id(cell) not in self.owners and not self._own(made, module, path, cell):
                continue
            places.append((".".join(map(str, path)), *self.owners[id(cell)]))
        made._places = tuple(places)
        return made

    def _own(self, made: FromNnx, module: object, path: tuple[Any, ...], cell: Any) -> bool:
        """Registers the tensor of a cell where it lies; returns whether there is one."""
        *between, last = path
        holder, part = module, made
        for key in between:
            holder = child_of(holder, key)
            inner = self.part(holder)
            part._modules[str(key)] = inner
            part = inner
        if id(cell) in self.owners:
            return True
        value, is_trained = getattr(cell, self.kind.value_attribute), isinstance(cell, self.kind.trained_types)
        if not isinstance(value, jax.Array):
            if is_trained:
                raise ModuleLiftError(
                    f"`{'.'.join(map(str, path))}` of `{type(module).__name__}` holds a {type(value).__name__}, and a "
                    "parameter is one array. Make a Param of each array."
                )
            return False
        impl = None
        if jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
            impl, value = str(jax.random.key_impl(value)), jax.random.key_data(value)
        tensor = from_jax(value)
        if is_trained:
            part._parameters[str(last)] = Parameter(tensor, requires_grad=is_inexact(tensor.dtype))
        else:
            part._buffers[str(last)] = Buffer(tensor)
        self.owners[id(cell)] = (part, str(last), impl)
        return True
