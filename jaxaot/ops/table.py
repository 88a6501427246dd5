"""The op table: one row is the truth about an op, everything else is derived from it.

A row is a function on jax values with a schema:

    @register_op("sin(Tensor self) -> Tensor", promote="float", inplace=True)
    def sin(self):
        return jnp.sin(self)

The function form `ja.sin`, the method `Tensor.sin`, the in-place `Tensor.sin_`, `out=`, their signatures and error
messages, the eager kernels and their gradients follow. Conventions for the function of a row:

* It takes the parameters of its schema by name, jax arrays or Python numbers for the dynamic ones. Dims may be
  negative.
* It returns its result, a tuple for several, or a list for `Tensor[]`; after the declared results come the new values
  of the written parameters (`Tensor(a!)`), in schema order.
* A random row takes a PRNG key as its first argument, before the schema's parameters; it never holds one.
* `promote="common"` converts the tensor and scalar operands to PyTorch's common dtype before the call, `"float"` does
  so too and takes integers to float; results are never weakly typed.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from jaxaot._immutable import immutable
from jaxaot._typing import Array, Shape
from jaxaot.errors import DuplicateOpError
from jaxaot.ops.autocast_lists import LISTED
from jaxaot.ops.dims import broadcast_shapes
from jaxaot.ops.half_precision import AS_THEY_ARE, RANDOM_AND_WIDENED, computed_wide, has_half, is_half
from jaxaot.ops.promotion import is_number, number_dtype, promote_each, strong
from jaxaot.ops.schema import Schema, name_of, parse_schema
from jaxaot.views.layout import Layout

_TAKES_TENSOR = re.compile(r"\s*\w+\s*\(\s*Tensor(\(\w+!?\))?\??\s")

LayoutRule = Callable[[Sequence[Layout], Shape, Any, tuple[Any, ...]], Layout]


@immutable
class ValueCheck:
    """A check of values that is made where an op runs eagerly; see `ops/value_checks.py`.

    Attributes:
      fn: Takes the row's parameters by name, and raises.
      reads: Names of the parameters whose values it needs.
      of_results: Whether it looks at the op's results, which it takes first, rather than at its operands.
      of_integers: Whether it has nothing to look at where a tensor among the operands holds floats.
    """

    fn: Callable[..., None]
    reads: tuple[str, ...]
    of_results: bool = False
    of_integers: bool = False


@immutable(eq=False)
class OpSpec:
    """One row.

    Attributes:
      name: The op's name; in-place and `out=` forms do not have a row of their own.
      text: Its signature, as a schema spells it.
      fn: The function on jax values.
      promote: How operands are converted first: `"common"`, `"float"` or None.
      concerned: Names of the dynamic parameters that `promote` concerns; None for all of them.
      has_inplace: Whether `name_` exists: the same function, its result written to `self`.
      has_out: Whether the function form takes `out=`.
      has_method: Whether `Tensor.name` exists.
      is_function: Whether the namespaces hold a function form.
      is_random: Whether `fn` takes a PRNG key first.
      draws: Takes the static values, by name, to whether a random row draws with them; None if it always does.
      is_inplace_only: Whether only `name_` exists for users, as for `fill_`.
      overwrites: Whether the result does not depend on the values of `self`, only on its shape and dtype.
      is_differentiable: Whether gradients flow through it.
      is_backward: Whether it takes what another op held, and cotangents, to gradients: of these only those require grad
        that depend on an argument that does.
      is_factory: Whether its forms also take `device=`, `requires_grad=`, `layout=`, `memory_format=`, `pin_memory=`.
      namespaces: Where the function form lives: `""` for `ja`, or `"nn.functional"`, `"linalg"`, `"special"`, `"fft"`.
      aliases: Other names of the same op.
      layout: How the result is laid out: `"operands"` follows the operands' strides (elementwise ops),
        `"same"` keeps those of the first operand where they are dense (clones), `"indexed"` follows the source and its
        indices, `"contiguous"` follows nothing. Or a function that takes the operands' layouts, the result's shape and
        dtype and the static arguments to the layout.
      overload_of: The row whose name users write for this one: `max(x, dim)` is the row `max_dim`, an overload of
        `max`. It has neither a function nor a method of its own name.
      inplace_name: Name of the in-place form, if it has one: `name_`, or another (`normal_` is the row `normal_fill`).
      fitting: Names of the parameters whose numbers have to fit the dtype of the result; others overflow.
    """

    name: str
    text: str
    fn: Callable[..., Any]
    promote: str | None = None
    concerned: tuple[str, ...] | None = None
    has_inplace: bool = False
    has_out: bool = False
    has_method: bool = True
    is_function: bool = True
    is_random: bool = False
    draws: Callable[..., bool] | None = None
    is_inplace_only: bool = False
    overwrites: bool = False
    is_differentiable: bool = True
    is_backward: bool = False
    is_factory: bool = False
    namespaces: tuple[str, ...] = ("",)
    aliases: tuple[str, ...] = ()
    layout: str | LayoutRule = "contiguous"
    overload_of: str | None = None
    inplace_name: str | None = None
    fitting: tuple[str, ...] = ()

    @functools.cached_property
    def schema(self) -> Schema:
        """Its signature, which is read when somebody asks for it: there are hundreds of rows, and few are used."""
        return parse_schema(self.text)

    @functools.cached_property
    def promoted(self) -> tuple[str, ...]:
        """Names of the dynamic parameters that `promote` concerns."""
        if self.promote is None:
            return ()
        return tuple(p.name for p in self.schema.dynamic) if self.concerned is None else self.concerned

    @property
    def takes_tensor(self) -> bool:
        """Whether its first parameter is a tensor, so that it may be a method."""
        return _TAKES_TENSOR.match(self.text) is not None

    def name_in(self, namespace: str) -> str:
        """Returns the name users see in `namespace`: the row `linalg_norm` is `norm` in `linalg`."""
        return self.name.removeprefix(f"{namespace.rpartition('.')[2]}_") if namespace else self.name

    @property
    def namespaced_names(self) -> tuple[str, ...]:
        """The names users see, each with its namespace: `nn.functional.relu`."""
        return tuple(f"{n}.{self.name_in(n)}" if n else self.name for n in self.namespaces)

    @functools.cached_property
    def dynamic_defaults(self) -> tuple[Any, ...]:
        """Defaults of the dynamic parameters."""
        return tuple(p.default for p in self.schema.dynamic)

    @functools.cached_property
    def pack(self) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
        """Makes the tuple of several results, with PyTorch's names for them: `x.max(0).values`."""
        names = self.schema.result_names
        if not names:
            return tuple
        return collections.namedtuple(self.overload_of or self.name, names)._make

    @functools.cached_property
    def check(self) -> ValueCheck | None:
        """The check of its values, if there is one."""
        return _checks.get(self.name)

    @functools.cached_property
    def unchecked(self) -> OpSpec:
        """The same row without its check of values."""
        made = dataclasses.replace(self)
        vars(made)["check"] = None
        return made

    @functools.cached_property
    def is_cast(self) -> bool:
        """Whether `autocast` may cast its operands."""
        return self.name in LISTED

    @functools.cached_property
    def has_prelude(self) -> bool:
        """Whether something may have to be done before it runs: casts, or a check of numbers or values."""
        return self.is_cast or self.check is not None or bool(self.fitting)

    @functools.cached_property
    def fitting_places(self) -> tuple[int, ...]:
        """Which dynamic parameters are named in `fitting`."""
        return tuple(i for i, p in enumerate(self.schema.dynamic) if p.name in self.fitting)

    @functools.cached_property
    def is_widened(self) -> bool:
        """Whether it is computed in float32 where it is given halves; see `ops/half_precision.py`."""
        return self.name in RANDOM_AND_WIDENED or not (self.is_random or self.name in AS_THEY_ARE)

    def at(self, static: Sequence[Any]) -> OpSpec:
        """Returns the row for some static values: one without a key if nothing is drawn, so that no stream moves."""
        if self.draws is None or self.draws(**dict(zip((p.name for p in self.schema.static), static, strict=True))):
            return self
        return self._without_key

    @functools.cached_property
    def _without_key(self) -> OpSpec:
        return dataclasses.replace(self, fn=functools.partial(self.fn, None), is_random=False, draws=None)

    @functools.cached_property
    def has_any(self) -> bool:
        """Whether a static parameter takes values of several types, so that 1 and True are to be told apart."""
        return any(p.type == "Any" for p in self.schema.static)

    @functools.cached_property
    def has_lists(self) -> bool:
        """Whether a dynamic parameter is a list of tensors."""
        return any(p.is_list for p in self.schema.dynamic)

    def evaluate(self, dynamic: Sequence[Any], static: Sequence[Any], key: Array | None = None) -> tuple[Any, ...]:
        """Returns all results on jax values: the declared ones, then the new values of the written parameters.

        Args:
          dynamic: Values of the dynamic parameters in schema order; lists for `Tensor[]`.
          static: Values of the static parameters in schema order.
          key: PRNG key, for a random row.
        """
        if self.is_widened and (has_half(dynamic) or any(map(is_half, static))):
            return computed_wide(lambda values, static: self._evaluate(values, static, key), dynamic, static)
        return self._evaluate(dynamic, static, key)

    def _evaluate(self, dynamic: Sequence[Any], static: Sequence[Any], key: Array | None) -> tuple[Any, ...]:
        if self.promote is not None:
            dynamic = self._promoted(dynamic)
        values = dict(zip((p.name for p in self.schema.dynamic), dynamic, strict=True))
        values.update(zip((p.name for p in self.schema.static), static, strict=True))
        args = [] if key is None else [key]
        results = self.fn(*args, **values)
        if not isinstance(results, (tuple, list)):
            results = (results,)
        all_numbers = bool(dynamic) and all(v is None or is_number(v) for v in dynamic)
        return tuple(r if r is None or all_numbers else _strengthen(r) for r in results)

    def _promoted(self, dynamic: Sequence[Any]) -> list[Any]:
        values = [list(value) if isinstance(value, (list, tuple)) else value for value in dynamic]
        places = []
        for position, parameter in enumerate(self.schema.dynamic):
            if parameter.name in self.promoted and values[position] is not None:
                places += (
                    [(position, i) for i in range(len(values[position]))] if parameter.is_list else [(position, None)]
                )
        operands = [values[position] if i is None else values[position][i] for position, i in places]
        if all(is_number(operand) for operand in operands):
            # numbers stay numbers: weakly typed arrays
            for position, i in places:
                if i is None:
                    values[position] = jnp.asarray(values[position])
                else:
                    values[position][i] = jnp.asarray(values[position][i])
            return values
        if self.layout == "operands":
            broadcast_shapes(*(jnp.shape(operand) for operand in operands))
        for (position, i), operand in zip(places, promote_each(self.promote, operands), strict=True):
            if i is None:
                values[position] = operand
            else:
                values[position][i] = operand
        return values


def _strengthen(value: Array) -> Any:
    value = jnp.asarray(value)
    if jnp.issubdtype(value.dtype, jax.dtypes.extended) or not value.weak_type:
        return value
    return strong(value, number_dtype(value))


def op_of(fn: Callable[..., Any], schema: str, is_backward: bool = False) -> OpSpec:
    """Returns an op that is in no table: a function of jax values, to be called on tensors."""
    made = OpSpec(name=name_of(schema), text=schema, fn=fn, is_backward=is_backward)
    vars(made)["check"] = None
    vars(made)["is_widened"] = False
    return made


WITHOUT_OUT = ("nn.functional", "masked", "signal.windows")

LINALG: dict[str, Any] = {"method": False, "namespaces": ("linalg",)}
FUNCTIONAL: dict[str, Any] = {"method": False, "namespaces": ("nn.functional",)}
SHARED: dict[str, Any] = {"method": False, "namespaces": ("", "nn.functional")}
INTERNAL: dict[str, Any] = {"method": False, "function": False}
"""What is no method: where its functions live, if it has any."""

_rows: dict[str, OpSpec] = {}
_names: dict[str, OpSpec] = {}
_overloads: dict[str, list[OpSpec]] = {}
_checks: dict[str, ValueCheck] = {}


def register_op(
    schema: str,
    *,
    promote: str | None = None,
    promoted: Sequence[str] | None = None,
    inplace: bool | str = False,
    out: bool | None = None,
    method: bool = True,
    function: bool = True,
    random: bool | Callable[..., bool] = False,
    inplace_only: bool = False,
    overwrites: bool | None = None,
    differentiable: bool = True,
    factory: bool = False,
    namespaces: Sequence[str] = ("",),
    aliases: Sequence[str] = (),
    layout: str | LayoutRule | None = None,
    overload_of: str | None = None,
    fitting: Sequence[str] = (),
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Returns a decorator that adds a row to the table; `OpSpec` says what the settings mean.

    Args:
      schema: See `ops/schema.py`.
      promoted: Which dynamic parameters `promote` concerns; by default all of them.
      inplace: Whether `name_` is derived, or the name of the in-place form.
      out: Whether `out=` is derived; by default for ops that promote or live outside of `nn.functional` and `masked`.
      random: Whether the function takes a PRNG key first. Or a function of the static values, by name, that says
        whether one is drawn; where it is not, the function of the row is given None.
      overwrites: Whether the result does not depend on the values of `self`; by default so for in-place-only rows.
      layout: How the result is laid out; by default `"operands"` for ops that promote.
      overload_of: Name of the row that this one is another signature of; that row is registered first.

    Raises:
      DuplicateOpError: If a name is taken.
    """

    def add(fn: Callable[..., Any]) -> Callable[..., Any]:
        name = name_of(schema)
        spec = OpSpec(
            name=name,
            text=schema,
            fn=fn,
            promote=promote,
            concerned=None if promoted is None else tuple(promoted),
            has_inplace=bool(inplace) or inplace_only,
            has_out=promote is not None or namespaces[0] not in WITHOUT_OUT if out is None else out,
            has_method=method and overload_of is None,
            is_function=function and not inplace_only and overload_of is None,
            is_random=bool(random),
            draws=random if callable(random) else None,
            is_inplace_only=inplace_only,
            overwrites=inplace_only if overwrites is None else overwrites,
            is_differentiable=differentiable,
            is_factory=factory,
            namespaces=tuple(namespaces),
            aliases=tuple(aliases),
            layout=layout or ("operands" if promote else "contiguous"),
            overload_of=overload_of,
            fitting=tuple(fitting),
            inplace_name=inplace if isinstance(inplace, str) else f"{name}_" if inplace or inplace_only else None,
        )
        # an alias is a name like any other: a second row of that name would hide the first
        for taken in (name, *spec.aliases):
            if taken in _names:
                raise DuplicateOpError(
                    f"Two rows claim the op `{taken}`: `{_names[taken].schema}` and `{spec.schema}`."
                )
            _names[taken] = spec
        _rows[name] = spec
        if overload_of is not None:
            _overloads.setdefault(overload_of, []).append(spec)
        return fn

    return add


def register_ops(functions: Mapping[str, Callable[..., Any]], **settings: Any) -> None:
    """Adds a row for each schema and its function: ops that differ in these alone."""
    for schema, fn in functions.items():
        register_op(schema, **settings)(fn)


def register_check(name: str, check: ValueCheck) -> None:
    """Gives a row its check of values.

    Raises:
      DuplicateOpError: If the row has one, or there is no such row.
    """
    if name in _checks or name not in _rows:
        raise DuplicateOpError(f"There is no row `{name}`, or it has a check of values already.")
    _checks[name] = check


def lookup(name: str) -> OpSpec:
    """Returns the row of an op by its name or an alias."""
    return _names[name]


def rows() -> Iterator[OpSpec]:
    """Returns all rows, in the order of registration."""
    return iter(_rows.values())


def overloads(name: str) -> tuple[OpSpec, ...]:
    """Returns the row of an op and then the rows that are other signatures of it, in the order to try them."""
    spec = _names[name]
    return (spec, *_overloads.get(spec.name, ()))
