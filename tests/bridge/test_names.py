"""A walk of PyTorch's names: each function and method does on JAX what it does on the CPU, or refuses by its name."""

import collections
import math

import jax
import numpy as np
import pytest

import jaxaot as ja
from tests.seeds import chunks

torch = pytest.importorskip("torch")
import torch.overrides as overrides  # noqa: E402
from torch.utils import _pytree as trees  # noqa: E402

F, T = torch.nn.functional, torch.Tensor
pytestmark = pytest.mark.oracle


@pytest.fixture(autouse=True)
def wide():
    with jax.enable_x64(True):
        torch.manual_seed(0)
        yield


def op_db():
    from torch.testing._internal.common_methods_invocations import op_db

    return op_db


RANDOM = {
    "alpha_dropout", "bernoulli", "bernoulli_", "binomial", "cauchy", "cauchy_", "dropout", "dropout1d", "dropout2d",
    "dropout3d", "exponential", "exponential_", "feature_alpha_dropout", "feature_dropout", "fractional_max_pool2d",
    "fractional_max_pool3d", "fractional_max_pool2d_with_indices", "fractional_max_pool3d_with_indices", "geometric",
    "geometric_", "gumbel_softmax", "log_normal", "log_normal_", "multinomial", "native_dropout", "new_empty",
    "new_empty_strided", "normal", "normal_", "pca_lowrank", "poisson", "rand_like", "randint_like", "randn_like",
    "random_", "rrelu", "rrelu_", "svd_lowrank", "uniform", "uniform_", "empty_like", "empty", "empty_permuted",
    "empty_strided", "rand", "randint", "randn", "eig", "eigh", "lobpcg",
}  # fmt: skip
"""Of these, shapes and dtypes are compared: they draw, or their results are not the only ones."""
LEFT_OUT = ("sparse.", "to_sparse", "jiterator", "to.")
WIDTHS = {"nn.functional.interpolate", "nn.functional.upsample_bilinear", "nn.functional.upsample_nearest"}
"""Ops whose weights PyTorch's kernels round to float32."""


def difference(found, expected, is_random=False, tolerance=1e-6):
    """Returns in words what differs between results; None if nothing does."""
    here, there = trees.tree_leaves(found), trees.tree_leaves(expected)
    if len(here) != len(there):
        return f"{len(here)} results, not {len(there)}"
    for x, y in zip(here, there, strict=True):
        if isinstance(y, torch.Tensor):
            if type(x) is not ja.torch.Tensor:
                return f"a {type(x)}, not one on JAX"
            x, y = ja.torch.to_torch(x).detach(), y.detach().resolve_conj().resolve_neg()
            if (x.dtype, x.shape) != (y.dtype, y.shape):
                return f"{x.dtype} {tuple(x.shape)}, not {y.dtype} {tuple(y.shape)}"
            if not is_random and not torch.allclose(x, y, rtol=tolerance, atol=tolerance, equal_nan=True):
                return f"{x.flatten()[:5].tolist()}, not {y.flatten()[:5].tolist()}"
        elif isinstance(y, (bool, int, float, complex, str, torch.Size, torch.dtype)):
            if type(x) is not type(y) or (x != y and not (x != x and y != y)):
                return f"{x!r}, not {y!r}"
        elif type(x) is not type(y):
            return f"a {type(x)}, not a {type(y)}"
    return None


def variants(op):
    """Returns the names and functions by which an op is called."""
    forms = ("method_variant", "inplace_variant", "operator_variant", "inplace_operator_variant")
    found = [("op", op.op), *((form, getattr(op, form, None)) for form in forms)]
    for alias in op.aliases or ():
        found += [(f"{alias.name}, {form}", getattr(alias, form, None)) for form in ("op", *forms[:2])]
    return [(form, function) for form, function in found if function is not None]


def copied(value):
    return trees.tree_map(lambda x: x.detach().clone() if isinstance(x, torch.Tensor) else x, value)


DTYPES = torch.float64, torch.float32, torch.complex128, torch.int64, torch.bool


def failures(op):
    """Returns in words what is wrong with an op of PyTorch's table."""
    dtype = next((dtype for dtype in DTYPES if dtype in op.dtypes), None)
    if dtype is None or f"{op.name}.".startswith(LEFT_OUT):
        return []
    samples, found = list(op.sample_inputs("cpu", dtype)), []
    few = samples[:: max(1, len(samples) // 3)][:3]
    for form, function in variants(op):
        for sample in few if form == "op" else few[:1]:
            there = copied((sample.input, sample.args, sample.kwargs))
            if any(isinstance(x, torch.Tensor) and x.layout is not torch.strided for x in trees.tree_leaves(there)):
                continue
            here = ja.torch.to_jax(copied(there))
            here[2].update({"device": ja.torch.device()} if "device" in here[2] else {})
            try:
                expected = function(there[0], *there[1], **there[2])
            except RuntimeError:  # what PyTorch refuses is another test's
                continue
            try:
                with ja.torch.scope():
                    got = function(here[0], *here[1], **here[2])
            except ja.errors.NoCounterpartError:
                continue
            if "inplace" in form and got is not here[0]:
                found.append(f"{form}: returns another tensor than it takes")
            is_random = op.name in RANDOM or op.name.rpartition(".")[2] in RANDOM
            tolerance = 1e-5 if op.name in WIDTHS else 1e-6
            wrong = difference(got, expected, is_random, tolerance) or difference(
                here[:2], there[:2], is_random, tolerance
            )
            if wrong:
                found.append(f"{form}: {wrong}")
    return [f"{op.name} {op.variant_test_name}, {what}" for what in dict.fromkeys(found)]


N_OPS = 712


@pytest.mark.parametrize("start", chunks(89, N_OPS, 0))
def test_ops_of_pytorchs_table_are_pytorchs(start):
    found = [what for op in op_db()[start : start + 89] for what in failures(op)]
    assert not found, "\n".join(found)


class Made:
    """Tensors of samples: the same ones on JAX and of PyTorch."""

    def __init__(self, place):
        self.place, self.n_made = place, 0

    def __call__(self, *size, low=-1.5, high=1.5):
        self.n_made += 1  # each is another: arguments that change places are seen
        values = (torch.arange(math.prod(size), dtype=torch.float64) + self.n_made).square().mul(0.7).sin()
        return self.place(values.mul((high - low) / 2).add((high + low) / 2).reshape(size).clone())

    def ints(self, *size, high=4):
        return self.place((torch.arange(math.prod(size)) * 7 % high).reshape(size).clone())

    def bools(self, *size):
        return self.place((torch.arange(math.prod(size)) % 3 == 0).reshape(size).clone())

    def leaf(self, *size):
        return self(*size).detach().requires_grad_()


def after(x, write):
    """Returns what a write returns, and what is there then."""
    return write(x), x


def setitem(x, index, value):
    x[index] = value
    return x


def lstm(t, run, hidden, n=3, gates=4):
    weights = [t(gates * n, 5), t(gates * n, n), t(gates * n), t(gates * n)]
    return run(t(4, 2, 5), hidden, weights, True, 1, 0.0, False, False, False)


def cell(t, run, hidden, gates):
    return run(t(2, 5), hidden, t(gates * 3, 5), t(gates * 3, 3), t(gates * 3), t(gates * 3))


_BINARY = {
    "add", "and", "eq", "floordiv", "ge", "gt", "le", "lshift", "lt", "matmul", "mod", "mul", "ne", "or", "pow",
    "rshift", "sub", "truediv", "xor", "radd", "rand", "rfloordiv", "rlshift", "rmul", "ror", "rrshift", "rxor",
    "iadd", "iand", "ifloordiv", "ilshift", "imod", "imul", "ior", "ipow", "irshift", "isub", "ixor",
}  # fmt: skip
_ASKED = {
    "T", "H", "mT", "mH", "real", "_backward_hooks", "_base", "_grad", "_grad_fn", "_post_accumulate_grad_hooks",
    "_version", "data", "device_type", "grad", "grad_fn", "grad_dtype", "is_leaf", "is_meta", "is_mkldnn", "is_nested",
    "is_quantized", "is_sparse", "is_sparse_csr", "is_vulkan", "is_xpu", "is_cuda", "is_ipu", "is_maia", "is_mps",
    "is_mtia", "itemsize", "layout", "name", "nbytes", "ndim", "output_nr", "requires_grad", "retains_grad", "shape",
    "volatile", "dtype",
} - {"device_type"}  # fmt: skip
_CALLED = {
    "__len__", "_is_view", "detach", "detach_", "dim", "dim_order", "element_size", "hardshrink", "is_complex",
    "is_conj", "is_contiguous", "is_distributed", "is_floating_point", "is_inference", "is_neg", "is_pinned",
    "is_shared", "is_signed", "ndimension", "nelement", "numel", "relu", "relu_", "requires_grad_", "size",
    "storage_offset", "tolist", "slogdet", "to_dense", "sparse_dim", "dense_dim", "stride", "__reversed__",
    "_clear_non_serializable_cached_data", "_conj_physical",
}  # fmt: skip
_OF_TORCH = {
    "detach", "is_complex", "is_conj", "is_distributed", "is_floating_point", "is_inference", "is_neg", "is_signed",
    "numel", "relu", "selu", "celu", "slogdet", "detach_copy",
}  # fmt: skip
_OF_ONE = {"__bool__", "__complex__", "__float__", "__int__", "__long__", "__nonzero__", "is_nonzero", "item"}
_DRAWN = "dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"
SAMPLES = [
    *(lambda t, n=f"__{n}__": getattr(t.ints(3, 3) + 1, n)(t.ints(3, 3, high=3) + 1) for n in sorted(_BINARY)),
    *(lambda t, name=name: getattr(t(3, 3), name) for name in sorted(_ASKED)),
    *(lambda t, name=name: after(t(3, 3), lambda x: getattr(x, name)()) for name in sorted(_CALLED)),
    *(lambda t, name=name: getattr(torch, name)(t(3, 3)) for name in sorted(_OF_TORCH)),
    *(lambda t, name=name: getattr(t(1), name)() for name in sorted(_OF_ONE)),
    *(lambda t, n=n: getattr(F, n)(t(2, 3, 4, 5)[..., 0] if n == "dropout1d" else t(2, 3, 4, 5)) for n in _DRAWN),
    lambda t: t.ints(1).__index__(),
    lambda t: t.bools(3).__invert__(),
    lambda t: t(2, 2).__array__(),
    lambda t: t(3).__contains__(t(3)[1]),
    lambda t: f"{t(1)[0]:.3f}",
    lambda t: setitem(t(3, 3), (slice(1), 2), 5.0),
    lambda t: setitem(t(3, 3), t.bools(3), t(1)),
    lambda t: t(3, 3).__array_wrap__(t(2).cpu().numpy())[:0].shape,
    lambda t: after(t(3, 3), lambda x: x.copy_(t(3))),
    lambda t: after(t(3, 3), lambda x: x.fill_diagonal_(2.0)),
    lambda t: after(t(2, 2), lambda x: x.apply_(abs)),
    lambda t: after(t(2), lambda x: x.map_(t(2), max)),
    lambda t: after(t(2), lambda x: x.map2_(t(2), t(2), lambda a, b, c: a + b * c)),
    lambda t: after(t(3), lambda x: x.set_(t(4)[1:])),
    lambda t: t(4).resize(2, 2),
    lambda t: t(4).resize_as(t(2, 2)),
    lambda t: after(t(3), lambda x: x.bernoulli_(0.5)),
    lambda t: after(t(3), lambda x: x.random_(3)),
    lambda t: t(2, 2).is_same_size(t(2, 2)),
    lambda t: torch.is_same_size(t(2), t(3)),
    lambda t: t(2).is_set_to(t(2)),
    lambda t: t(2).type_as(t.ints(1)),
    lambda t: t(2).to(torch.float32),
    lambda t: t(2).cpu().dtype,
    lambda t: t(2).new(),
    lambda t: t(4).unsafe_split_with_sizes([1, 3]),
    lambda t: t(2, 3).prelu(t(3)),
    lambda t: t(2).new_tensor([1.5]),
    lambda t: t(3).module_load(t(3)),
    lambda t: (t(2) + 1j).imag,
    lambda t: t(2, 3).numpy().shape,
    lambda t: t(2, 3).unflatten(1, (3, 1)),
    lambda t: str(t(2, 3)).replace("dtype=ja.", "dtype=torch."),
    lambda t: [f(t.bools(3)) for f in (T._is_all_true, T._is_any_true)],
    lambda t: t(3).as_subclass(torch.Tensor),
    lambda t: [t.leaf(2).sum().backward(), t.leaf(2).retain_grad(), t.leaf(2).register_hook(abs) is None],
    lambda t: t.leaf(2).register_post_accumulate_grad_hook(lambda x: None) is None,
    lambda t: (t.leaf(2) * 2).retains_grad,
    lambda t: t(2, 3).storage().tolist(),
    lambda t: t(2).untyped_storage().nbytes(),
    lambda t: t(2).data_ptr() > 0,
    lambda t: t(3).__deepcopy__({}),
    lambda t: type(t(3).__reduce_ex__(2)),
    lambda t: t(2, 2).__rmatmul__(t(2, 2)),
    lambda t: after(t(3), lambda x: x.__itruediv__(2)),
    lambda t: t(3).__div__(2),
    lambda t: torch.adaptive_max_pool1d(t(2, 6), 3),
    lambda t: torch.batch_norm(t(4, 3), t(3), t(3), t(3), t(3), True, 0.1, 1e-5, False),
    lambda t: torch.binary_cross_entropy_with_logits(t(3), t(3, low=0)),
    lambda t: torch.binomial(t(3, low=1, high=4).floor(), t(3, low=0, high=1)),
    lambda t: torch.convolution(t(1, 2, 5), t(3, 2, 2), None, [1], [0], [1], False, [0], 1),
    lambda t: torch.convolution(t(1, 3, 5), t(3, 2, 2), t(2), [2], [0], [1], True, [1], 1),
    lambda t: torch.cosine_embedding_loss(t(3, 2), t(3, 2), t.ints(3, high=2) * 2 - 1),
    lambda t: torch.ctc_loss(t(5, 2, 4).log_softmax(-1), t.ints(2, 2, high=3) + 1, [5, 4], [2, 1]),
    lambda t: torch.embedding(t(5, 2), t.ints(3)),
    lambda t: torch.embedding_bag(t(5, 2), t.ints(4), t.ints(2))[0],
    lambda t: torch.dropout(t(4), 0.5, True),
    lambda t: torch.alpha_dropout(t(4), 0.5, True),
    lambda t: torch.feature_dropout(t(4, 2), 0.5, True),
    lambda t: torch.feature_alpha_dropout(t(4, 2), 0.5, True),
    lambda t: torch.native_dropout(t(4), 0.5, True),
    lambda t: torch.get_device(t(2)) < 1,
    lambda t: t(2).get_device() < 1,
    lambda t: torch.functional.chain_matmul(t(2, 3), t(3, 4), t(4, 2)),
    lambda t: torch.einsum("ij,jk", t(2, 3), t(3, 2)),
    lambda t: torch.grid_sampler(t(1, 2, 3, 3), t(1, 2, 2, 2), 0, 0, False),
    lambda t: torch.hinge_embedding_loss(t(3), t.ints(3, high=2) * 2 - 1),
    lambda t: torch.instance_norm(t(2, 3, 4), t(3), t(3), None, None, True, 0.1, 1e-5, False),
    lambda t: torch.kl_div(t(3), t(3, low=0.1)),
    lambda t: torch.margin_ranking_loss(t(3), t(3, high=1), t.ints(3, high=2) * 2 - 1),
    lambda t: torch.max_pool1d(t(2, 6), 2),
    lambda t: torch.max_pool2d(t(2, 6, 6), 2),
    lambda t: torch.max_pool3d(t(2, 4, 4, 4), 2),
    lambda t: torch.max_pool1d_with_indices(t(2, 6), 2),
    lambda t: F.max_pool1d(t(2, 6), 2, return_indices=True),
    lambda t: F.max_pool2d(t(2, 6, 6), 2, return_indices=True),
    lambda t: F.max_pool3d(t(2, 4, 4, 4), 2, return_indices=True),
    lambda t: F.adaptive_max_pool1d(t(2, 6), 3, True),
    lambda t: F.adaptive_max_pool2d(t(2, 6, 6), 3, True),
    lambda t: F.adaptive_max_pool3d(t(1, 4, 4, 4), 2, True),
    lambda t: F.max_pool1d(t(2, 6), 2),
    lambda t: F.max_pool2d(t(2, 4, 4), 2),
    lambda t: F.fractional_max_pool2d(t(1, 2, 6, 6), 2, 3, return_indices=True),
    lambda t: F.fractional_max_pool3d(t(1, 2, 6, 6, 6), 2, 3, return_indices=True),
    lambda t: F.fractional_max_pool2d(t(1, 2, 6, 6), 2, 3),
    lambda t: F.fractional_max_pool3d(t(1, 2, 6, 6, 6), 2, 3),
    lambda t: torch.norm_except_dim(t(3, 4), 2, 0),
    lambda t: torch._weight_norm(t(3, 4), t(3, 1)),
    lambda t: torch.poisson(t(3, low=1, high=4)),
    lambda t: torch.poisson_nll_loss(t(3), t(3, low=1), True, False, 1e-8, 1),
    lambda t: torch.rrelu(t(3)),
    lambda t: F.rrelu(t(3), training=True),
    lambda t: torch.polygamma(1, t(3, low=1, high=2)),
    lambda t: torch.special.polygamma(1, t(3, low=1, high=2)),
    lambda t: torch.select_copy(t(3, 3), 0, 1),
    lambda t: torch.slice_copy(t(5), 0, 1, 4, 2),
    lambda t: torch.split_copy(t(5), 2),
    lambda t: torch.unsafe_split_with_sizes(t(5), [2, 3]),
    lambda t: torch.view_as_complex_copy(t(3, 2)),
    lambda t: torch.view_as_real_copy(t(3) + 1j),
    lambda t: torch.triplet_margin_loss(t(3, 2), t(3, 2), t(3, 2, high=2)),
    lambda t: torch.threshold(t(3), 0.1, 2.0),
    lambda t: torch.where(t.bools(3), t(3), 0.0),
    lambda t: torch.multinomial(t(3, low=1), 2),
    lambda t: torch.bernoulli(t(3, low=0, high=1)),
    lambda t: t(3, low=0, high=1).bernoulli(),
    lambda t: t(3, low=1).multinomial(2),
    lambda t: lstm(t, torch.lstm, (t(1, 2, 3), t(1, 2, 3))),
    lambda t: lstm(t, torch.gru, t(1, 2, 3), gates=3),
    lambda t: lstm(t, torch.rnn_tanh, t(1, 2, 3), gates=1),
    lambda t: lstm(t, torch.rnn_relu, t(1, 2, 3), gates=1),
    lambda t: cell(t, torch.lstm_cell, (t(2, 3), t(2, 3)), 4),
    lambda t: cell(t, torch.gru_cell, t(2, 3), 3),
    lambda t: cell(t, torch.rnn_tanh_cell, t(2, 3), 1),
    lambda t: cell(t, torch.rnn_relu_cell, t(2, 3), 1),
    lambda t: F.affine_grid(t(1, 2, 3), (1, 1, 2, 2), False),
    lambda t: F.fold(t(1, 4, 4), (3, 3), 2),
    lambda t: F.gumbel_softmax(t(3)),
    lambda t: F.lp_pool1d(t(1, 2, 4), 2, 2),
    lambda t: F.lp_pool2d(t(1, 2, 4, 4), 2, 2),
    lambda t: F.lp_pool3d(t(1, 2, 4, 4, 4), 2, 2),
    lambda t: F.native_channel_shuffle(t(1, 4, 2, 2), 2),
    lambda t: torch.native_channel_shuffle(t(1, 4, 2, 2), 2),
    lambda t: F.embedding(t.ints(3), t(5, 2)),
    lambda t: F.embedding_bag(t.ints(2, 2), t(5, 2)),
    lambda t: F.conv_tbc(t(5, 2, 3), t(2, 3, 4), t(4), 1),
    lambda t: F.multi_head_attention_forward(
        t(3, 1, 4), t(3, 1, 4), t(3, 1, 4), 4, 2, t(12, 4), t(12), None, None, False, 0.0, t(4, 4), t(4)
    ),
    lambda t: F.scaled_dot_product_attention(t(1, 2, 3, 4), t(1, 2, 3, 4), t(1, 2, 3, 4), is_causal=True),
    lambda t: torch.frobenius_norm(t(3, 3), [0, 1]),
    lambda t: torch.nuclear_norm(t(3, 3)),
    lambda t: torch.affine_grid_generator(t(1, 2, 3), [1, 1, 2, 2], False),
    lambda t: torch.lobpcg(t(9, 9).mm(t(9, 9).T) + 9 * t(9, 9).cosh().diag().diag(), 1)[0],
    lambda t: (
        torch.sym_float(2) + torch.sym_max(1, 2) + torch.sym_min(1, 2) + torch.sym_sum([1, 2]) + torch.sym_not(True)
    ),
    lambda t: np.from_dlpack(t(3)).shape,
    lambda t: t(1).is_cpu in (True, False),
    lambda t: t(3).__dlpack_device__()[1],
    lambda t: hasattr(t(1), "__cuda_array_interface__"),
    lambda t: torch.functional.svd_lowrank(t(4, 3), 2)[1],
    lambda t: torch.functional.pca_lowrank(t(4, 3), 2)[1],
]
"""Calls of what PyTorch's table of ops has not, with tensors of a `Made`."""
ELSEWHERE = {"cuda", "ipu", "mtia", "pin_memory", "share_memory_", "xpu", "chalf"}
"""They would be somewhere that JAX has not, and say so."""
NUMBERS_OF_PYTHON = {"_sym_int", "sym_float", "sym_ite", "sym_max", "sym_min", "sym_not", "sym_sqrt", "sym_sum"}
"""They take numbers of Python's: no tensor comes to them."""


@pytest.fixture
def called(monkeypatch):
    """Gathers the functions that tensors on JAX send here."""
    found, inner = set(), ja.torch.Tensor.__torch_function__.__func__

    def noted(cls, func, types, args=(), kwargs=None):
        found.add(func)
        return inner(cls, func, types, args, kwargs)

    monkeypatch.setattr(ja.torch.Tensor, "__torch_function__", classmethod(noted))
    return found


def names_of(function):
    from jaxaot.bridge.names import name_of

    return name_of(function).removesuffix(".__get__").rpartition(".")[2]


def test_every_name_is_pytorchs_or_refuses_by_its_name(called):
    from jaxaot.bridge.tensor import HANDLERS

    wrong, of_class = [], vars(ja.torch.Tensor)
    for i, sample in enumerate(SAMPLES):
        expected, got = sample(Made(lambda x: x)), sample(Made(ja.torch.to_jax))
        what = difference(got, expected, is_random=bool(RANDOM & names_now(sample)))
        if what:
            wrong.append(f"{i} {sorted(names_now(sample))}: {what}")
    assert not wrong, "\n".join(wrong)
    walked = called | {function for op in op_db() for _, function in variants(op)}
    sampled = {name for sample in SAMPLES for name in names_now(sample)}
    counts, left = collections.Counter(), []
    for function in {f for found in overrides.get_overridable_functions().values() for f in found}:
        name = names_of(function)
        if HANDLERS[function].__name__ == "refuse":
            counts["refused"] += 1
            with pytest.raises(ja.errors.NoCounterpartError, match=rf"{name}.* on JAX"):
                HANDLERS[function]()
        elif name in ELSEWHERE:
            counts["refused"] += 1
            with pytest.raises(ja.errors.NoCounterpartError):
                function(Made(ja.torch.to_jax)(1))
        elif function in walked or name in sampled or name in of_class or name in NUMBERS_OF_PYTHON:
            counts["walked"] += 1
        else:
            left.append(name)
    assert not left, sorted(left)
    assert counts["walked"] > 1250 and counts["refused"] < 110


def names_now(sample):
    """Returns the names that the code of a sample has, and those that it was made with."""
    given = [value for value in sample.__defaults__ or () if isinstance(value, str)]
    given += [value.__name__ for value in sample.__defaults__ or () if hasattr(value, "__name__")]
    inner = [name for code in sample.__code__.co_consts if hasattr(code, "co_names") for name in code.co_names]
    return {*sample.__code__.co_names, *inner, *given}


def test_the_table_is_walked_to_its_end():
    assert len(op_db()) <= N_OPS
