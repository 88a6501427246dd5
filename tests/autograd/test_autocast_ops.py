"""Every listed op under `autocast` against `torch.autocast("cpu")`: dtypes and values, from both precisions.

Set `JAXAOT_AUTOCAST=all` for every op of op_db, and `JAXAOT_SAMPLES` for more samples of each.
"""

import contextlib
import os
import warnings

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest")
from torch.utils import _pytree as pytree  # noqa: E402

import jaxaot as ja  # noqa: E402
from jaxaot.ops.autocast_lists import ON_CPU  # noqa: E402
from jaxaot.ops.table import lookup  # noqa: E402
from tests.ops import opdb  # noqa: E402
from tests.seeds import one_in  # noqa: E402

pytestmark = pytest.mark.oracle

N_SAMPLES = int(os.environ.get("JAXAOT_SAMPLES", "3"))
LOWER = torch.bfloat16

_LOGITS = "PyTorch rounds the logits to bfloat16; ours is computed in float32"
MISSES = {
    "nn.functional.linear_cross_entropy": _LOGITS,
    "nn.functional.linear_cross_entropy.chunked": _LOGITS,
    "nn.functional.linear_cross_entropy.chunked_none": _LOGITS,
}
"""Op → why it does not agree."""


def is_listed(op):
    """Returns whether the row of an op is in a list; `linalg.inv` is the row `inv`, `linalg.qr` the row `linalg_qr`."""
    names = op.name.replace(".", "_"), op.name.rpartition(".")[2]
    for name in names:
        with contextlib.suppress(KeyError):
            return lookup(name).name in ON_CPU
    return op.name == "__rmatmul__"


OPS = [op for op in opdb.in_scope() if is_listed(op) or os.environ.get("JAXAOT_AUTOCAST") == "all"]


def narrowed(tree):
    """Returns a sample's arguments with bfloat16 in place of float32."""
    is_float = lambda x: isinstance(x, torch.Tensor) and x.dtype == torch.float32
    return pytree.tree_map(lambda x: x.to(LOWER) if is_float(x) else x, tree)


def copied(tree):
    return pytree.tree_map(lambda x: x.clone() if isinstance(x, torch.Tensor) else x, tree)


def outcome(fn, args, kwargs, context):
    with context, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return opdb.flat_outputs(fn(*args, **kwargs))


def compare(op, sample, args, kwargs):
    """Returns how a call under autocast differs from PyTorch's, or None."""
    given = opdb.convert(copied(args)), opdb.convert(copied(kwargs))
    torch.manual_seed(0)
    try:
        plain = outcome(op.op, *copied((args, kwargs)), torch.autocast("cpu", LOWER, enabled=False))
    except Exception:
        plain = None
    try:
        expected = outcome(op.op, args, kwargs, torch.autocast("cpu", LOWER))
    except Exception:
        return None  # what PyTorch refuses is not a sample
    dtypes = [x.dtype for x in expected if isinstance(x, torch.Tensor)]
    if plain is not None and [x.dtype for x in plain if isinstance(x, torch.Tensor)] == dtypes:
        without = outcome(opdb.find(op), *given, ja.autocast("cpu", ja.bfloat16, enabled=False))
        ours = [x.dtype for x in without if isinstance(x, ja.Tensor)]
    else:
        ours = [opdb.jax.dtypes.canonicalize_dtype(opdb.dtype_of(d)) for d in dtypes if d != torch.complex32]
    got = outcome(opdb.find(op), *given, ja.autocast("cpu", ja.bfloat16))
    found = [x.dtype for x in got if isinstance(x, ja.Tensor)]
    if torch.complex32 not in dtypes and found != ours:
        return f"{[d.name for d in found]} instead of {[d.name for d in ours]}"
    values = not opdb.is_drawn(op, sample) and op.name not in opdb.RANDOM
    if op.name.startswith("linalg.eig") or "svd" in op.name or op.name == "pca_lowrank":
        values = False  # signs and phases are left open
    return opdb.compare_all(expected, got, values=values)


@pytest.mark.parametrize("op", one_in(2, OPS), ids=opdb.full_name)
def test_op(op):
    problems = []
    for sample in opdb.samples_of(op, False, N_SAMPLES):
        arguments = (sample.input, *sample.args), sample.kwargs
        for form in (arguments, narrowed(arguments)):
            found = compare(op, sample, *form)
            if found:
                problems.append(f"{opdb.shown(sample)}: {found}")
    if opdb.full_name(op) not in MISSES:
        assert not problems, "\n".join(problems)
