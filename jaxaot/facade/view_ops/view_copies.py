"""`*_copy`: what a view shows, as a tensor with memory of its own. Derived from the views, not written again."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from jaxaot.facade.dispatch.dispatch import call
from jaxaot.facade.dispatch.out import call_out
from jaxaot.facade.dispatch.signatures import with_parameters
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.facade.view_ops import split_views as splits
from jaxaot.facade.view_ops import views
from jaxaot.ops.table import lookup


def _same(input: Tensor) -> Tensor:
    """Returns the tensor."""
    return input


def _slice(input: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor:
    """Returns a range of a dim."""
    return views.slice_view(input, dim, start, end, step)


_SHOWN: dict[str, Callable[..., Any]] = {
    "alias_copy": _same, "as_strided_copy": views.as_strided, "detach_copy": views.detach,
    "diagonal_copy": views.diagonal, "expand_copy": views.expand, "narrow_copy": views.narrow,
    "permute_copy": views.permute, "select_copy": views.select, "slice_copy": _slice, "split_copy": splits.split,
    "split_with_sizes_copy": splits.split_with_sizes, "squeeze_copy": views.squeeze, "t_copy": views.t,
    "transpose_copy": views.transpose, "unbind_copy": splits.unbind, "unfold_copy": views.unfold,
    "unsqueeze_copy": views.unsqueeze, "view_as_complex_copy": views.view_as_complex,
    "view_as_real_copy": views.view_as_real, "view_copy": views.view, "unsafe_chunk": splits.chunk,
    "unsafe_split": splits.split, "unsafe_split_with_sizes": splits.split_with_sizes,
}  # fmt: skip
"""Name → what it shows. The unsafe ones are the splits whose pieces autograd takes for tensors of their own."""


def _copying(name: str, show: Callable[..., Any]) -> Callable[..., Any]:
    row = lookup("contiguous_copy_of")

    @functools.wraps(show)
    def copy(input: Tensor, *args: object, out: Any = None, **kwargs: Any) -> Any:
        shown = show(input, *args, **kwargs)
        if out is None:
            return tuple(call(row, (x,), ()) for x in shown) if isinstance(shown, tuple) else call(row, (shown,), ())
        if not isinstance(shown, tuple):
            return call_out(row, (shown,), (), out)
        for x, target in zip(shown, out, strict=True):
            call_out(row, (x,), (), target)
        return out

    copy.__name__ = copy.__qualname__ = name
    copy.__doc__ = f"Returns a copy of what `{name.removesuffix('_copy')}` shows."
    return with_parameters(copy, show, "out=None")


FUNCTIONS = {name: _copying(name, show) for name, show in _SHOWN.items()}
METHODS = {name: FUNCTIONS[name] for name in ("narrow_copy", "unsafe_chunk", "unsafe_split", "unsafe_split_with_sizes")}
