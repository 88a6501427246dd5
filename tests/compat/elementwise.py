"""Elementwise ops of PyTorch's `op_db` on whole ranges of values at once, compared element by element.

An op of two operands gets every pair. A float may be so many units in the last place from PyTorch's result, or from
that of PyTorch in float64: where an op is composed of others there, PyTorch itself rounds in between.
"""

from __future__ import annotations

import dataclasses

import jax
import numpy as np
import torch
from torch.testing._internal.opinfo.core import BinaryUfuncInfo, UnaryUfuncInfo

import jaxaot as ja
from tests.compat.ranges import FLOATS, INTEGERS, RANGES, values
from tests.ops import opdb

WAYS = ("eager", "compiled", "vmap", "grad")
HALVES = (torch.float16, torch.bfloat16)
UNITS = {torch.float16: 1, torch.bfloat16: 1, torch.float32: 64}
"""How many units in the last place a result may be off; sums of rounded terms are off by more in gradients."""


@dataclasses.dataclass(frozen=True)
class Case:
    """One op on one range of values of a dtype, run in one way."""

    name: str
    dtype: torch.dtype
    range: str
    way: str

    def __str__(self) -> str:
        return f"{self.name}-{str(self.dtype).removeprefix('torch.')}-{self.range}-{self.way}"


OPS = {opdb.full_name(op): op for op in opdb.in_scope() if isinstance(op, (UnaryUfuncInfo, BinaryUfuncInfo))}


AT_THE_SMALLEST_INTEGER = {"gcd", "lcm"}
"""Ops that end the process in PyTorch there, by a division that overflows, or give -1 as a greatest divisor."""


def cases() -> list[Case]:
    """Returns all cases, in an order in which each stretch has many ops, dtypes, ranges and ways."""
    found = [
        Case(name, dtype, range, way)
        for way in WAYS
        for range in RANGES
        for dtype in (*FLOATS, *INTEGERS)
        for name, op in OPS.items()
        if not (name in AT_THE_SMALLEST_INTEGER and range != "ordinary")
        if dtype in op.dtypes and not (way == "grad" and not (dtype.is_floating_point and op.supports_autograd))
    ]
    return found


def array(tensor) -> np.ndarray:
    """Returns a tensor of either library as float64, or complex128."""
    if isinstance(tensor, torch.Tensor):
        tensor = tensor.detach() + 0
        return tensor.to(torch.complex128 if tensor.is_complex() else torch.float64).numpy()
    found = np.asarray(tensor.detach().jax())
    return found.astype(np.complex128 if np.iscomplexobj(found) else np.float64)


def units_apart(expected: np.ndarray, got: np.ndarray, dtype: torch.dtype) -> np.ndarray:
    """Returns by how many units in the last place of `dtype` results differ; both NaN is no difference."""
    info = torch.finfo(dtype)
    with np.errstate(all="ignore"):
        size = np.where(np.isfinite(expected), np.abs(expected), 1)
        unit = np.exp2(np.floor(np.log2(np.maximum(size, info.smallest_normal)))) * info.eps
        apart = np.where((expected == got) | (np.isnan(expected) & np.isnan(got)), 0, np.abs(expected - got) / unit)
    return np.where(np.isnan(apart), np.inf, apart)


def is_wrong(expected, exact, got, range: str, times: int = 1) -> np.ndarray:
    """Returns which elements of a result are neither PyTorch's nor the rounded result of PyTorch in float64."""
    a, b = array(expected), array(got)
    if not expected.is_floating_point():
        return a != b
    dtype = expected.dtype if expected.dtype in UNITS else torch.float32
    limit = UNITS[dtype] * times
    wrong = units_apart(a, b, dtype) > limit
    if exact is not None and wrong.any():
        rounded = array(torch.tensor(array(exact)).to(dtype))
        wrong &= units_apart(rounded, b, dtype) > limit
    wrong &= ~((np.abs(a) < 2 * torch.finfo(dtype).tiny) & (b == 0))  # XLA flushes denormals
    if range != "ends" and dtype == torch.float32:
        wrong &= ~(np.abs(a - b) < 1e-6)
    return wrong


def operands(op, case: Case) -> list[torch.Tensor]:
    found = torch.tensor(values(case.dtype, case.range)).to(case.dtype)
    if isinstance(op, UnaryUfuncInfo):
        return [found]
    n = len(found)
    return [found[:, None].expand(n, n).reshape(-1).clone(), found.repeat(n)]


def run_torch(op, args, sample, wants_grad: bool):
    """Returns results and gradients in PyTorch."""
    args = [a.detach().clone().requires_grad_(wants_grad and a.is_floating_point()) for a in args]
    extra = sample.args if isinstance(op, UnaryUfuncInfo) else ()
    results = [
        r for r in opdb.flat_outputs(op.op(*args, *extra, **_settings(op, sample))) if isinstance(r, torch.Tensor)
    ]
    if not wants_grad:
        return results, []
    smooth = [r for r in results if r.requires_grad]
    return results, list(torch.autograd.grad(smooth, args, [torch.ones_like(r) for r in smooth], allow_unused=True))


def _settings(op, sample):
    return sample.kwargs if isinstance(op, UnaryUfuncInfo) else {}


def run_ours(op, args, sample, way: str):
    """Returns results and gradients, run in one of `WAYS`."""
    fn = opdb.find(op)
    extra = opdb.convert(sample.args) if isinstance(op, UnaryUfuncInfo) else ()
    settings = opdb.convert(_settings(op, sample))
    given = [opdb.convert(a) for a in args]
    call = lambda *xs: fn(*xs, *extra, **settings)
    if way == "vmap":
        results = ja.func.vmap(call)(*[ja.stack([x, x]) for x in given])
        return [r[1] for r in opdb.flat_outputs(results) if isinstance(r, ja.Tensor)], []
    if way == "grad":
        for x in given:
            x.requires_grad_()
    results = ja.compile(call)(*given) if way == "compiled" else call(*given)
    results = [r for r in opdb.flat_outputs(results) if isinstance(r, ja.Tensor)]
    if way != "grad":
        return results, []
    smooth = [r for r in results if r.requires_grad]
    return results, list(ja.autograd.grad(smooth, given, [ja.ones_like(r) for r in smooth], allow_unused=True))


def difference(case: Case) -> str | None:
    """Returns how a case differs from PyTorch, or None; also None where PyTorch refuses it."""
    op = OPS[case.name]
    sample = next(iter(op.sample_inputs("cpu", case.dtype)))
    args, wants_grad = operands(op, case), case.way == "grad"
    try:
        expected, gradients = run_torch(op, args, sample, wants_grad)
    except Exception:
        return None
    try:
        wide = [a.double() if a.is_floating_point() else a for a in args]
        exact, exact_gradients = run_torch(op, wide, sample, wants_grad)
    except Exception:
        exact, exact_gradients = [None] * len(expected), [None] * len(gradients)
    with ja.config(exact_rounding=case.way == "compiled"):
        got, own = run_ours(op, args, sample, case.way)
    # PyTorch's gradients are composed of several ops, each rounded
    pairs = [(*found, 1) for found in zip(expected, exact, got, strict=True)]
    pairs += [(*found, 3) for found in zip(gradients, exact_gradients, own, strict=True) if found[0] is not None]
    for a, x, b, times in pairs:
        if b is None:
            return "there is no gradient"
        if a.is_complex():
            continue
        wrong = is_wrong(a, x, b, case.range, times).reshape(-1)
        if wrong.any():
            place = int(np.flatnonzero(wrong)[0])
            shown = [float(array(v).reshape(-1)[place]) for v in args]
            return (
                f"{wrong.sum()} of {wrong.size}: {shown} → {array(b).reshape(-1)[place]} instead of "
                f"{array(a).reshape(-1)[place]}"
            )
    return None


def free() -> None:
    """Drops what was compiled."""
    opdb.free_executables()
    jax.clear_caches()
