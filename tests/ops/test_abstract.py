"""Ops on tensors without values: shapes, dtypes, strides, versions and gradients are those of the run with values."""

import warnings

import pytest

pytest.importorskip("torch")

import jaxaot as ja
from tests.ops import opdb
from tests.seeds import one_in, some

pytestmark = pytest.mark.oracle

NEEDS_VALUES = {
    "__getitem__", "allclose", "argwhere", "bincount", "combinations", "corrcoef", "cov", "ctc_loss", "equal",
    "histc", "histogram", "histogramdd", "index_put", "index_select", "item", "linalg.cond", "linalg.lstsq",
    "linalg.matrix_rank", "masked_scatter", "masked_select", "narrow", "nn.functional.ctc_loss",
    "nn.functional.one_hot", "nonzero",
    "nonzero_static", "repeat_interleave", "segment_reduce", "take", "take_along_dim", "tensor_split", "to", "unique",
    "unique_consecutive", "where",
}  # fmt: skip
"""Ops some of whose samples look at a value; these may refuse, and may not be wrong."""


def on_meta(value, leaves=None):
    """Returns arguments of the facade with tensors laid out alike that have no values."""
    if isinstance(value, ja.Tensor):
        storage = value.untyped_storage()
        memory = ja.empty(storage.nbytes() // value.itemsize, dtype=value.dtype, device="meta")
        made = memory.as_strided(value.shape, value.stride(), value.storage_offset()).detach()
        if value.requires_grad:
            made.requires_grad_()
            if leaves is not None:
                leaves.append((value, made))
        return made
    if isinstance(value, dict):
        return {key: on_meta(item, leaves) for key, item in value.items()}
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(on_meta(item, leaves) for item in value)
    return value


def facts(result):
    """Returns all that may be compared."""
    return [fact(t) if isinstance(t, ja.Tensor) else t for t in opdb.flat_outputs(result)]


def fact(t):
    geometry = tuple(t.shape), t.stride(), t.storage_offset(), t.untyped_storage().nbytes()
    return geometry, t.dtype, t.requires_grad, t._version


def outcome(run):
    try:
        return run(), None
    except Exception as error:
        return None, error


def difference(op, fn, sample):
    leaves = []
    args, kwargs = opdb.convert((sample.input, *sample.args), []), opdb.convert(sample.kwargs, [])
    meta_args, meta_kwargs = on_meta(args, leaves), on_meta(kwargs, leaves)
    real, refused = outcome(lambda: fn(*args, **kwargs))
    if refused is not None:
        return None
    meta, error = outcome(lambda: fn(*meta_args, **meta_kwargs))
    if isinstance(error, ja.errors.NoValueError) and op.name in NEEDS_VALUES:
        return None
    if error is not None:
        return f"{type(error).__name__}: {error}"
    if facts(real) != facts(meta):
        return f"{facts(real)} became {facts(meta)}"
    pairs = zip(opdb.flat_outputs(real), opdb.flat_outputs(meta), strict=True)
    outs = [pair for pair in pairs if isinstance(pair[0], ja.Tensor) and pair[0].requires_grad]
    if not outs or not leaves:
        return None

    def grad(side):
        results, inputs = [o[side] for o in outs], [leaf[side] for leaf in leaves]
        return ja.autograd.grad(results, inputs, list(map(ja.ones_like, results)), allow_unused=True)

    real, refused = outcome(lambda: grad(0))
    if refused is not None:
        return None
    meta, error = outcome(lambda: grad(1))
    if error is not None:
        return f"gradient: {type(error).__name__}: {error}"
    return None if facts(real) == facts(meta) else f"gradients {facts(real)} became {facts(meta)}"


OPS = [op for op in opdb.in_scope() if opdb.find(op) is not None]


@pytest.mark.parametrize("n", some([1, 12], 1))
@pytest.mark.parametrize("op", one_in(4, OPS), ids=opdb.full_name)
def test_op_without_values(op, n):
    fn = opdb.find(op)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dtype = opdb.chosen_dtype(op)
        is_differentiable = op.supports_autograd and (dtype.is_floating_point or dtype.is_complex)
        for sample in opdb.samples_of(op, is_differentiable, n):
            found = difference(op, fn, sample)
            assert not found, f"{opdb.shown(sample)}: {found}"
