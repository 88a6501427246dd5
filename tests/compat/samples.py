"""PyTorch's operator samples in half precision: results within a unit in the last place of PyTorch's.

A result may also be that of PyTorch in float64, rounded: what PyTorch composes of several ops it rounds after each.
"""

from __future__ import annotations

import torch
from torch.utils import _pytree as pytree

from tests.compat.elementwise import HALVES, is_wrong
from tests.ops import opdb

LEFT_OUT = {
    "view_as_complex": "JAX has no complex halves",
    "hash_tensor": "needs 64 bits",
    "sort": "which of equals comes first",
    "argsort": "which of equals comes first",
    "mode": "which of equals comes first, or is named",
    "native_batch_norm": "its statistics are float32",
    "linalg.multi_dot": "each product is rounded, in an order of its own",
    "einsum": "each product is rounded, in an order of its own",
    "nn.functional.scaled_dot_product_attention": "weights are rounded before the second product",
    "nn.functional.multi_head_attention_forward": "weights are rounded before the second product",
    "nn.functional.linear_cross_entropy": "logits are rounded",
    "special.ndtr": "PyTorch's far left is 0",
}


def cases() -> list[str]:
    """Returns the ops with samples in halves, each with the dtype: `exp-float16`."""
    return [
        f"{opdb.full_name(op)}-{str(dtype).removeprefix('torch.')}"
        for op in opdb.in_scope()
        for dtype in HALVES
        if dtype in op.dtypes and op.name not in LEFT_OUT
    ]


def difference(case: str, limit: int = 2) -> str | None:
    """Returns how samples of an op differ, or None."""
    name, _, dtype = case.rpartition("-")
    dtype = getattr(torch, dtype)
    op = next(op for op in opdb.in_scope() if opdb.full_name(op) == name)
    fn = opdb.find(op)
    wide = lambda t: t.double() if isinstance(t, torch.Tensor) and t.dtype in HALVES else t
    for sample in opdb.samples_of(op, False, limit, dtype):
        if opdb.is_drawn(op, sample):
            continue
        arguments = opdb.convert((sample.input, *sample.args)), opdb.convert(sample.kwargs)
        try:
            expected = op.op(sample.input, *sample.args, **sample.kwargs)
        except Exception:
            continue  # what PyTorch refuses is not a sample
        try:
            input, args, settings = pytree.tree_map(wide, (sample.input, sample.args, sample.kwargs))
            exact = opdb.flat_outputs(op.op(input, *args, **settings))
        except Exception:
            exact = [None] * len(opdb.flat_outputs(expected))
        got = opdb.flat_outputs(fn(*arguments[0], **arguments[1]))
        for a, x, b in zip(opdb.flat_outputs(expected), exact, got, strict=True):
            if isinstance(a, torch.Tensor) and a.dtype in HALVES and a.numel():
                x = x if isinstance(x, torch.Tensor) and x.is_floating_point() else None
                wrong = is_wrong(a, x, b, "ordinary")
                if wrong.any():
                    return f"{opdb.shown(sample)}: {wrong.sum()} of {wrong.size} elements"
    return None
