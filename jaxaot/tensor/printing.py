"""How tensors print."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxaot._jax import is_tracer
from jaxaot.errors import JaxaotError


def tensor_repr(tensor: Any) -> str:
    """Returns a text as readable as PyTorch's: values, and what is not the default."""
    storage = tensor._storage
    notes = []
    if is_tracer(storage.array) or (storage.trace is not None):
        body = f"<traced {tensor.dtype}{list(tensor.shape)}>"
    else:
        try:
            values = np.asarray(tensor.detach()._read())
            if values.dtype.kind == "V" or values.dtype.name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
                values = values.astype(np.float32)
            body = np.array2string(values, separator=", ", precision=4, suppress_small=False, prefix="tensor(")
        except JaxaotError:
            body = "<no values: its storage holds fewer bytes than it shows>"
    if tensor.dtype.name not in ("float32", "int32", "bool"):
        notes.append(f"dtype=ja.{tensor.dtype.name}")
    if tensor.numel() == 0 and tensor.ndim != 1:
        notes.append(f"size={list(tensor.shape)}")
    if tensor.requires_grad:
        node = tensor.grad_fn
        notes.append("requires_grad=True" if node is None else f"grad_fn={node!r}")
    return f"tensor({', '.join([body, *notes])})"
