"""Binds what users call to `Tensor` and to the namespaces of `ja`: forms of rows, views, operators, methods by hand.

A tensor has here what needs more than a tensor is, so this is where a lower module gets what a higher one does.
"""

from __future__ import annotations

import functools
from typing import Any

import jaxaot.ops.register_rows  # noqa: F401  fills the table
from jaxaot._typing import Array
from jaxaot.facade.gradients import grad
from jaxaot.facade.gradients.leaves import AccumulateGrad
from jaxaot.facade.indexing import data_dependent, indexing, selection
from jaxaot.facade.members import conversions, copying, metadata, placements, queries
from jaxaot.facade.members import legacy_signatures as old_forms
from jaxaot.facade.members.help import document
from jaxaot.facade.members.lazy_methods import Form, Functions, Method, form_of
from jaxaot.facade.members.operators import AUGMENTED, OPERATORS, PROTOCOLS, REFLECTED, augmented, binary
from jaxaot.facade.members.printing import set_printoptions, tensor_html, tensor_repr
from jaxaot.facade.members.row_functions import finished, first_that_fits, function_of, inplace_of
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.nodes import hooks
from jaxaot.facade.nodes.nodes import view_edge
from jaxaot.facade.view_ops import multi_view as several
from jaxaot.facade.view_ops import split_views as splits
from jaxaot.facade.view_ops import strided, view_copies, views
from jaxaot.facade.wrappers import deriving
from jaxaot.ops.table import OpSpec, lookup, overloads, rows

_TAKES_INPLACE = (
    "relu", "relu6", "leaky_relu", "elu", "selu", "celu", "silu", "mish", "hardtanh", "hardswish", "hardsigmoid",
    "threshold", "dropout", "rrelu", "alpha_dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout",
)  # fmt: skip


def backward(
    self: Tensor,
    gradient: Array | None = None,
    retain_graph: Any = None,
    create_graph: bool = False,
    inputs: object = None,
) -> None:
    """Adds the gradients of this tensor to the `.grad` of the leaves it depends on."""
    grad.backward(self, None if gradient is None else [gradient], retain_graph, create_graph, inputs)


# -- binding -----------------------------------------------------------------------------------------------------------

FUNCTIONS: dict[str, Functions] = {}
"""Namespace → name → function; `""` is `ja` itself."""


def _set(name: str, form: Form) -> None:
    setattr(Tensor, name, Method(name, form))


def _bind_row(spec: OpSpec) -> None:
    variants = overloads(spec.name)
    namespaces = [FUNCTIONS.setdefault(namespace, Functions()) for namespace in spec.namespaces]
    form = Form(lambda: first_that_fits(variants, function_of))
    if spec.is_function and not spec.is_inplace_only:
        for namespace, functions in zip(spec.namespaces, namespaces, strict=True):
            for name in (spec.name_in(namespace), *spec.aliases):
                functions[name] = form
    if spec.takes_tensor and spec.has_method and not spec.is_inplace_only:
        for name in (spec.name, *spec.aliases):
            _set(name, form)
    writable = [variant for variant in variants if variant.has_inplace]
    if writable and spec.takes_tensor:
        inplace = Form(lambda: first_that_fits(writable, inplace_of))
        for name in (str(spec.inplace_name), *(f"{alias}_" for alias in spec.aliases)):
            _set(name, inplace)
            for functions in () if spec.is_inplace_only else namespaces:
                if name not in functions:
                    functions[name] = inplace


def _bind() -> None:
    for spec in rows():
        if spec.overload_of is None:
            _bind_row(spec)
    functional = FUNCTIONS["nn.functional"]
    for name in set(_TAKES_INPLACE) & set(functional):
        functional[name] = functional.form(name).around(
            lambda fn, name=name: old_forms.with_inplace(fn, getattr(Tensor, f"{name}_", None))
        )
    for both in [name for name in functional if name.endswith("_with_indices")]:
        pool = both.removesuffix("_with_indices")
        functional[pool] = functional.form(pool).around(
            functools.partial(old_forms.with_indices, lookup(pool), both=functional.form(both))
        )
    functional["unfold"] = Form(lambda: function_of(lookup("unfold_patches")))
    here = FUNCTIONS.setdefault("", Functions())
    here.update(views.VIEWS | several.FUNCTIONS | splits.SPLITS)
    here.update(data_dependent.FUNCTIONS)
    for name, fn in data_dependent.FUNCTIONS.items():
        setattr(Tensor, name, fn)
    here.update(view_copies.FUNCTIONS)
    for name in ("block_diag", "cartesian_prod", "chain_matmul"):
        here[name] = here.form(name).around(old_forms.with_varargs)
    here["einsum"] = here.form("einsum").around(old_forms.with_operands)
    here["histogramdd"] = here.form("histogramdd").around(old_forms.with_edges)
    FUNCTIONS["linalg"]["diagonal"] = views.matrix_diagonal
    here.update({name: metadata.METHODS[name] for name in ("as_strided_", "detach_", "resize_as_")})
    here["zero_"] = form_of(Tensor, "zero_")
    here.update(empty_strided=finished(strided.empty_strided), as_strided_scatter=strided.as_strided_scatter)
    for name in ("addcmul", "addcdiv"):
        here[name] = here.form(name).around(old_forms.with_value_second)
        _set(name, here.form(name))
        _set(f"{name}_", form_of(Tensor, f"{name}_").around(old_forms.with_value_second))
    for name in ("index_put", "index_put_"):
        here[name] = form_of(Tensor, name).around(indexing.taking_masks)
        _set(name, here.form(name))
    here["where"] = here.form("where").around(old_forms.where_or_places)
    here["unravel_index"] = here.form("unravel_index").around(old_forms.with_shape_of_numbers)
    functional.update(sigmoid=here.form("sigmoid"), tanh=here.form("tanh"))
    functional["embedding_bag"] = functional.form("embedding_bag").around(old_forms.with_table_first)
    here["layer_norm"] = here.form("layer_norm").around(lambda fn: old_forms.with_ignored(fn, "cudnn_enable"))
    here["group_norm"] = here.form("group_norm").around(lambda fn: old_forms.with_ignored(fn, "cudnn_enabled"))
    here["batch_norm"] = old_forms.batch_norm_of(functional.form("batch_norm"))
    here["embedding"] = old_forms.embedding_of(functional.form("embedding"))
    here["instance_norm"] = old_forms.instance_norm_of(functional.form("instance_norm"))
    here.update(queries.FUNCTIONS, set_printoptions=set_printoptions)
    for name, fn in {**views.VIEWS, **splits.SPLITS, **views.METHODS, **metadata.METHODS, **queries.BOTH}.items():
        setattr(Tensor, name, fn)
    for name, row in OPERATORS.items():
        setattr(Tensor, name, binary(row, False))
    for name, row in REFLECTED.items():
        setattr(Tensor, name, binary(row, True))
    for name, row in AUGMENTED.items():
        setattr(Tensor, name, augmented(row))
    by_hand: dict[str, Any] = {
        "polygamma": old_forms.polygamma, "where": old_forms.where_method, "type": old_forms.kind_of,
        "apply_": old_forms.apply_, "map_": old_forms.map_, "map2_": old_forms.map_with_both,
        "__init__": lambda self, *args: self._restore(old_forms.construct(args)._snapshot()),
        "__repr__": tensor_repr, "_repr_html_": tensor_html, "__getitem__": indexing.getitem,
        "__setitem__": indexing.setitem,
        "backward": backward, "register_hook": hooks.register_hook,
        "register_post_accumulate_grad_hook": hooks.register_post_accumulate_grad_hook,
        **PROTOCOLS, **hooks.PROPERTIES, "retain_grad": hooks.retain_grad,
        "as_strided_scatter": strided.as_strided_scatter,
        "new_empty_strided": finished(strided.new_empty_strided),
        "repeat": old_forms.repeat, "data": property(metadata.get_data, metadata.set_data, metadata.delete_data),
        "T": property(lambda self: views.permute(self, *reversed(range(self.ndim)))),
        "mT": property(views.matrix_transpose), "mH": property(views.adjoint), "H": property(views.matrix_adjoint),
        "real": property(views.real, lambda self, value: views.real(self).copy_(value)),  # type: ignore[arg-type]
        "imag": property(views.imag, lambda self, value: views.imag(self).copy_(value)),  # type: ignore[arg-type]
        "new": old_forms.made_alike, "_view_edge": view_edge, "_new_accumulator": property(AccumulateGrad),
    }  # fmt: skip
    for name, asks in {**queries.PROPERTIES, **placements.PROPERTIES}.items():
        setattr(Tensor, name, property(asks))
    more = conversions.METHODS | placements.METHODS | view_copies.METHODS | deriving.METHODS
    for name, value in (by_hand | more).items():
        setattr(Tensor, name, value)
    for name, row in (("__neg__", "neg"), ("__abs__", "abs"), ("__invert__", "bitwise_not")):
        _set(name, here.form(row))
    for name in ("uniform_", "random_"):
        _set(name, form_of(Tensor, name).around(old_forms.with_from))
    for name in ("flip", "tile", "sum_to_size"):
        _set(name, Form(functools.partial(old_forms.method_of_dims, name)))


_bind()
document(FUNCTIONS, Tensor, {*views.VIEWS, *splits.SPLITS, *views.METHODS})
for _kind, _methods in copying.PROTOCOLS.items():
    for _name, _method in _methods.items():
        setattr(_kind, _name, _method)
selection.bind(tuple(OPERATORS), tuple(REFLECTED), {i: f"__{i[3:]}" for i in AUGMENTED})
