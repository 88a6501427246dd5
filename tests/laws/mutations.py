"""Mutation programs written by hand, each run alike by PyTorch and by jaxaot.

A program is one function `body(m, *inputs)` of a library `m` and of input tensors, which may share memory. It writes,
and returns observations: tensors, numbers, tuples, facts of sharing, refusals. `then(m, inputs, observations)`, where
there is one, is what a user does eagerly after the call: writes to an output, a backward.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

GROUPS = ("writes", "metadata", "autograd", "compiled")


@dataclasses.dataclass(frozen=True)
class Mutation:
    """A program.

    Attributes:
      group: One of `GROUPS`.
      makers: From the library and the inputs made before to an input.
      body: From the library and the inputs to observations.
      then: What is done after the body, eagerly; returns further observations.
      n_arguments: How many of the inputs are arguments; the body reaches the rest through a closure. None for all.
      versions: Whether versions are compared: not where PyTorch's kernels count their writes as it happens.
    """

    group: str
    makers: tuple[Callable[[Any, list[Any]], Any], ...]
    body: Callable[..., list[Any]]
    then: Callable[[Any, list[Any], list[Any]], list[Any]] | None = None
    n_arguments: int | None = None
    versions: bool = True

    def inputs(self, m: Any) -> list[Any]:
        """Returns inputs made by a library."""
        made: list[Any] = []
        for maker in self.makers:
            made.append(maker(m, made))
        return made


MUTATIONS: dict[str, Mutation] = {}


def program(group: str, *makers: Any, **options: Any) -> Callable[[Any], Any]:
    """Returns a decorator that puts a body among `MUTATIONS`."""

    def add(body: Any) -> Any:
        assert group in GROUPS and body.__name__ not in MUTATIONS
        MUTATIONS[body.__name__] = Mutation(group, makers, body, **options)
        return body

    return add


def _values(shape: tuple[int, ...]) -> np.ndarray:
    """Returns distinct halves of both signs, out of order."""
    n = int(np.prod(shape))
    return ((np.arange(n) * 7 % 23 - 9) / 2).reshape(shape)


def f(*shape: int) -> Any:
    """A maker of floats."""
    return lambda m, made: m.tensor(_values(shape).tolist(), dtype=m.float32).reshape(shape).clone()


def i(*shape: int) -> Any:
    """A maker of ints."""
    return lambda m, made: m.tensor((_values(shape) * 2).astype(int).tolist(), dtype=m.int64).reshape(shape).clone()


def c(*shape: int) -> Any:
    """A maker of complex numbers."""
    values = _values((*shape, 2))
    return lambda m, made: m.tensor((values[..., 0] + 1j * values[..., 1]).tolist(), dtype=m.complex64)


def leaf(*shape: int) -> Any:
    """A maker of floats that require grad."""
    return lambda m, made: f(*shape)(m, made).requires_grad_()


def zeros(*shape: int) -> Any:
    """A maker of zeros."""
    return lambda m, made: m.zeros(shape)


def of(k: int, view: Callable[[Any], Any]) -> Any:
    """A maker of a view of input `k`."""
    return lambda m, made: view(made[k])


def shares(a: Any, b: Any) -> bool:
    """Returns whether two tensors have one storage."""
    if hasattr(a.untyped_storage(), "_cdata"):
        return a.untyped_storage()._cdata == b.untyped_storage()._cdata
    return a.untyped_storage() is b.untyped_storage()


def refusal(fn: Callable[[], Any]) -> str:
    """Returns the names of the classes of what a call raises."""
    try:
        fn()
    except Exception as error:
        return " ".join(["refused:", *(kind.__name__ for kind in type(error).__mro__)])
    return "not refused"


def geometry(x: Any) -> tuple[Any, ...]:
    """Returns the size, the strides and the offset of a tensor."""
    return tuple(x.shape), tuple(x.stride()), x.storage_offset()


# --- writes through views, assignments, out=, foreach ------------------------------------------------------------


@program("writes", f(6))
def write_to_a_slice(m, x):
    y = x[1:4]
    y.add_(1)
    return [y, shares(x, y), x._version, y._version]


@program("writes", f(3), f(2))
def grids_are_views(m, x, y):
    rows, columns = m.meshgrid(x, y, indexing="ij")
    across, down = m.meshgrid([x, y], indexing="xy")
    x.add_(1)
    return [
        rows, columns, across, down, geometry(rows), geometry(columns), geometry(across), geometry(down),
        shares(rows, x), shares(down, y), refusal(lambda: rows.add_(1)),
    ]  # fmt: skip


@program("writes", f(8))
def write_to_a_slice_of_a_slice(m, x):
    y = x[1:7][::2]
    y.mul_(3)
    return [y, geometry(y)]


@program("writes", f(2, 3, 4))
def write_to_a_view_of_a_view(m, x):
    y = x.view(6, 4).view(-1)[5:9].view(2, 2)
    y.sub_(10)
    return [y, geometry(y)]


@program("writes", f(3, 4))
def write_to_a_transpose(m, x):
    y = x.t()
    y[0].add_(5)
    return [y, geometry(y)]


@program("writes", f(2, 3, 4))
def write_to_a_permutation(m, x):
    y = x.permute(2, 0, 1)
    y[1:3, 1].mul_(2)
    return [y, geometry(y)]


@program("writes", f(4))
def write_through_unsqueeze_and_squeeze(m, x):
    y = x.unsqueeze(0).unsqueeze(2)
    y[0, 1:].fill_(7)
    z = y.squeeze()
    z[0] = -1
    return [y, z]


@program("writes", f(3, 4))
def write_to_a_selection(m, x):
    row, element = x.select(0, 1), x.select(1, 2).select(0, 0)
    row.neg_()
    element.add_(100)
    return [row, element, geometry(element)]


@program("writes", f(5, 3))
def write_to_a_narrow(m, x):
    y = x.narrow(0, 1, 3).narrow(1, 1, 2)
    y.zero_()
    return [y, geometry(y)]


@program("writes", f(3, 4))
def write_to_a_diagonal(m, x):
    y = x.diagonal(1)
    y.copy_(m.tensor([10.0, 20.0, 30.0]))
    x.diagonal().fill_(0)
    return [y, geometry(y)]


@program("writes", f(6))
def write_to_the_parts_of_a_split(m, x):
    a, b, c = x.split(2)
    a.add_(1)
    c.copy_(b)
    return [a, b, c, [shares(x, part) for part in (a, b, c)]]


@program("writes", f(5, 2))
def write_to_chunks(m, x):
    first, last = x.chunk(2)
    last.mul_(first[:2])
    return [first, last]


@program("writes", f(3, 2))
def write_to_one_of_an_unbind(m, x):
    rows = x.unbind()
    rows[1].add_(rows[0])
    return list(rows)


@program("writes", f(2, 3, 4))
def write_after_movedim(m, x):
    y = x.movedim(0, -1)
    y[0, 1:, 1] = 9
    return [y, geometry(y)]


@program("writes", f(12))
def write_to_an_unflatten(m, x):
    y = x.unflatten(0, (3, -1))
    y[:, 1].zero_()
    return [y]


@program("writes", f(7))
def windows_see_a_later_write(m, x):
    y = x.unfold(0, 3, 2)
    x[2].fill_(50)
    return [y, geometry(y)]


@program("writes", f(1, 3))
def an_expansion_sees_a_later_write(m, x):
    y = x.expand(4, 3)
    x.add_(1)
    return [y, y.sum(), geometry(y)]


@program("writes", f(3, 2))
def write_to_view_as_complex(m, x):
    y = m.view_as_complex(x)
    y.mul_(1j)
    return [y, geometry(y), shares(x, y)]


@program("writes", c(3))
def write_to_view_as_real(m, x):
    y = m.view_as_real(x)
    y[:, 0].add_(1)
    return [y, geometry(y), x]


@program("writes", c(2, 2))
def write_to_real_and_imaginary_parts(m, x):
    x.real.mul_(2)
    x.imag[0].zero_()
    return [x, x.real, geometry(x.imag)]


@program("writes", f(4))
def write_to_the_bits_of_floats(m, x):
    bits = x.view(m.int32)
    bits.bitwise_and_(0x7FFFFFFF)
    return [bits, shares(x, bits)]


@program("writes", i(3))
def write_to_the_halves_of_ints(m, x):
    y = x.view(m.int32)
    y[1::2] = 0
    return [y, geometry(y), x]


@program("writes", f(2, 3))
def a_view_sees_a_write_to_its_base(m, x):
    y = x[1]
    before = y.clone()
    x.mul_(10)
    return [before, y, y._version]


@program("writes", f(2, 3))
def views_see_each_other(m, x):
    a, b = x.view(-1), x.t()
    a[0] = 77
    b[2, 1] = 88
    return [a, b]


@program("writes", f(4))
def detach_shares_memory(m, x):
    y = x.detach()
    y.add_(1)
    return [y, shares(x, y), x._version, y._version]


@program("writes", f(3, 4))
def reshape_shares_where_it_can(m, x):
    y, z = x.reshape(4, 3), x.t().reshape(4, 3)
    y[0] = 0
    z[1] = 5
    return [y, z, shares(x, y), shares(x, z)]


@program("writes", f(3, 3))
def contiguous_shares_where_it_can(m, x):
    y, z = x.contiguous(), x.t().contiguous()
    y[0, 0] = 40
    z[1, 1] = 50
    return [y is x, shares(x, z), z, geometry(z)]


@program("writes", f(3, 3))
def conversion_shares_where_it_can(m, x):
    y, z = x.to(m.float32), x.to(m.float64)
    y[0].zero_()
    z[1].zero_()
    return [y is x, shares(x, z), z]


@program("writes", f(6))
def masked_fill_of_a_slice(m, x):
    x[1:5].masked_fill_(x[1:5] > 0, -100)
    return [x]


@program("writes", f(5))
def zero_a_slice(m, x):
    y = x[1:3].zero_()
    return [y, geometry(y), x._version]


@program("writes", f(4, 3))
def index_put_accumulates(m, x):
    rows = m.tensor([0, 2, 0, 3])
    x.index_put_((rows,), m.ones(4, 3), accumulate=True)
    x.index_put_((m.tensor([1, 1]), m.tensor([2, 0])), m.tensor([5.0, 6.0]))
    return [x]


@program("writes", f(4, 3))
def index_add_copy_and_fill(m, x):
    x.index_add_(0, m.tensor([1, 1, 3]), m.ones(3, 3), alpha=2)
    x.index_copy_(1, m.tensor([2, 0]), m.zeros(4, 2))
    x.index_fill_(0, m.tensor([0, 2]), -1)
    return [x, x._version]


@program("writes", f(3, 4))
def scatter_values_and_tensors(m, x):
    x.scatter_(1, m.tensor([[0], [2], [3]]), 50)
    x.scatter_(0, m.tensor([[2, 0]]), m.tensor([[7.0, 8.0]]))
    return [x]


@program("writes", f(3, 4))
def scatter_with_a_reduction(m, x):
    index = m.tensor([[0, 0, 1, 1], [3, 3, 3, 3]])
    source = m.tensor([[1.0, 2, 3, 4], [5, 6, 7, 8]])
    x.scatter_add_(1, index, source)
    x.scatter_reduce_(1, index, source, "amax")
    x.scatter_reduce_(1, index, source, "prod", include_self=False)
    return [x]


@program("writes", f(3, 4))
def scatter_into_a_transpose(m, x):
    x.t()[1:].scatter_add_(0, m.tensor([[0, 1, 2], [0, 0, 0]]), m.ones(2, 3))
    return [x]


@program("writes", f(2, 4))
def masked_scatter(m, x):
    x.masked_scatter_(x > 0, m.arange(8, dtype=m.float32))
    return [x]


@program("writes", f(3, 3))
def put_into_flat_places(m, x):
    x.t().put_(m.tensor([0, 5, -1]), m.tensor([10.0, 20.0, 30.0]))
    x.put_(m.tensor([4, 4]), m.tensor([1.0, 2.0]), accumulate=True)
    return [x]


@program("writes", f(3), i(3))
def copy_across_dtypes(m, x, k):
    k.copy_(x)
    y = x.clone().copy_(m.tensor([True, False, True]))
    return [k, y]


@program("writes", f(2, 3))
def copy_with_broadcast(m, x):
    x.t().copy_(m.tensor([10.0, 20.0]))
    x[1:].copy_(m.tensor(5))
    return [x]


@program("writes", f(4, 3))
def fill_the_diagonal(m, x):
    x.fill_diagonal_(7)
    x[1:].t().fill_diagonal_(8)
    return [x]


@program("writes", f(7, 3), versions=False)
def fill_the_wrapped_diagonal(m, x):
    return [x.fill_diagonal_(1, wrap=True) is x]


@program("writes", f(2, 4))
def assign_by_mask(m, x):
    x[x > 0] = -3
    x[m.tensor([True, False])] = m.tensor([1.0, 2.0, 3.0, 4.0])
    return [x]


@program("writes", f(2, 4))
def add_by_mask(m, x):
    x[x > 0] += 10
    return [x, x._version]


@program("writes", f(3, 4, 2))
def assign_by_mixed_indices(m, x):
    x[1, m.tensor([0, 3]), 1:] = 11
    x[..., m.tensor([1, 0]), None, 0] = m.tensor([[1.0], [2.0]])
    x[[0, 2], :, [1, 0]] = 7
    return [x]


@program("writes", f(4, 4))
def assign_by_two_index_tensors(m, x):
    x[m.tensor([[0], [2]]), m.tensor([1, 3])] = m.tensor([[1.0, 2.0], [3.0, 4.0]])
    return [x, x[m.tensor([-1, 0]), 1:]]


@program("writes", f(7))
def add_to_every_other(m, x):
    x[::2] += 1
    x[1::2] *= x[:-1:2]
    return [x, x._version]


@program("writes", f(3, 2))
def assign_a_tensor_that_broadcasts(m, x):
    x[:, 0] = m.tensor([1, 2, 3])
    x[1:] = m.tensor([[5.0, 6.0]])
    x[0, ...] = 4
    return [x]


@program("writes", f(6))
def out_into_a_slice(m, x):
    y = x[1:4]
    returned = m.add(m.ones(3), 2, out=y)
    m.mul(y.clone(), 2, out=x[3:])
    return [returned is y, x._version]


@program("writes", f(2, 3), versions=False)
def out_that_is_resized(m, x):
    out = m.empty(0)
    m.exp(x * 0.1, out=out)
    return [out, geometry(out)]


@program("writes", f(2, 3))
def matmul_with_out(m, x):
    out = m.zeros(2, 2)
    m.matmul(x, x.t(), out=out)
    m.mm(x.t(), x, out=out.resize_(3, 3))
    return [out]


@program("writes", f(2, 3), f(2, 2))
def out_into_a_transpose(m, x, y):
    m.mm(x, x.t(), out=y.t())
    values, indices = m.zeros(2), m.zeros(2, dtype=m.int64)
    m.max(x, dim=1, out=(values, indices))
    return [values, indices]


@program("writes", f(2, 3))
def out_of_cat_and_cumsum(m, x):
    out = m.zeros(4, 3)
    m.cat([x, x * 2], out=out)
    m.cumsum(x, 1, out=out[:2])
    return [out]


@program("writes", i(3))
def out_of_the_wrong_dtype(m, k):
    return [refusal(lambda: m.add(m.ones(3), 0.5, out=k)), k]


@program("writes", f(3), f(2, 2))
def foreach_add_and_mul(m, x, y):
    m._foreach_add_([x, y], 1)
    m._foreach_mul_([x, y], [2.0, 3.0])
    m._foreach_add_([x, y], [m.ones(3), m.ones(2, 2)], alpha=0.5)
    return [x._version, y._version]


@program("writes", f(4), f(4))
def foreach_addcmul_and_lerp(m, x, y):
    m._foreach_addcmul_([x, y[:2]], [y.clone(), x[:2].clone()], [m.ones(4), m.ones(2)], value=0.1)
    m._foreach_lerp_([x], [y], 0.25)
    m._foreach_addcdiv_([x], [y], [m.full((4,), 4.0)])
    return [x, y]


@program("writes", f(4))
def foreach_on_views_of_one_base(m, x):
    parts = list(x.split(2))
    m._foreach_mul_(parts, 2)
    m._foreach_copy_(parts, [parts[1].clone(), m.zeros(2)])
    m._foreach_zero_(parts[1:])
    return [*parts, *m._foreach_add(parts, 1)]


@program("writes", f(3))
def unary_functions_in_place(m, x):
    x.mul_(0.1).exp_().sqrt_().sigmoid_().log_().abs_()
    return [x, x._version]


@program("writes", f(2, 3))
def clamp_and_pow_in_place(m, x):
    x.clamp_(-2, 3).pow_(2)
    x[0].div_(x[1] + 1)
    x.remainder_(3)
    return [x]


@program("writes", i(4))
def integer_operators_in_place(m, k):
    k += 3
    k //= 2
    k &= 5
    k <<= 1
    k[1:] ^= k[:-1].clone()
    return [k]


@program("writes", f(2, 3))
def floor_divide_and_power_operators(m, x):
    x //= 2
    x **= 2
    x %= 5
    x /= 4
    return [x]


@program("writes", f(3))
def comparisons_in_place(m, x):
    x.gt_(0)
    y = x.clone().logical_not_()
    return [x, y]


@program("writes", f(3, 3))
def triangles_in_place(m, x):
    x[:, 1:].tril_()
    x.t().triu_(-1)
    return [x]


@program("writes", f(2, 4))
def scans_in_place(m, x):
    x.cumsum_(1)
    x.t()[:2].cumprod_(0)
    return [x]


@program("writes", f(2, 3))
def addmm_and_baddbmm_in_place(m, x):
    y = m.ones(2, 2).addmm_(x, x.t(), beta=0.5, alpha=2)
    z = m.ones(2, 2, 2).baddbmm_(m.ones(2, 2, 3), x.t().expand(2, 3, 2))
    y[0].addmv_(x[:, :2], m.tensor([1.0, -1.0]))
    return [y, z]


@program("writes", f(3))
def write_to_an_expansion_is_refused(m, x):
    y = x.expand(2, 3)
    return [refusal(lambda: y.add_(1)), refusal(lambda: y.copy_(m.ones(2, 3))), x, x._version]


@program("writes", f(6))
def write_to_a_stride_of_zero_is_refused(m, x):
    y = x.as_strided((3, 2), (0, 1), 1)
    return [refusal(lambda: y.mul_(2)), refusal(lambda: m.add(m.ones(3, 2), 1, out=y)), x]


@program("writes", i(3))
def floats_into_ints_are_refused(m, k):
    def add():
        nonlocal k
        k += 0.5

    return [refusal(add), refusal(lambda: k.mul_(0.5)), refusal(lambda: k.div_(2)), k]


@program("writes", f(3))
def a_target_does_not_grow(m, x):
    return [refusal(lambda: x.add_(m.ones(2, 3))), refusal(lambda: x[:2].copy_(m.ones(3))), x]


@program("writes", f(3, 2))
def indices_out_of_range_are_refused(m, x):
    def assign():
        x[3] = 1

    def assign_too_many():
        x[:, 0] = m.ones(2)

    return [refusal(assign), refusal(lambda: x.select(0, 4)), refusal(assign_too_many), refusal(lambda: x[0, 0, 0]), x]


@program("writes", f(3, 2))
def a_view_of_a_transpose_is_refused(m, x):
    return [refusal(lambda: x.t().view(-1)), refusal(lambda: x.view(4)), x]


@program("writes", f(4, 3), zeros(3), f(3), versions=False)
def running_statistics_of_batch_norm(m, x, mean, var):
    var.abs_()
    y = m.nn.functional.batch_norm(x, mean, var, training=True, momentum=0.1)
    return [y]


@program("writes", zeros(2, 5, 3), f(2, 2, 3))
def a_cache_of_keys_is_filled(m, cache, keys):
    cache[:, 1:3] = keys
    cache.narrow(1, 3, 2).copy_(keys * 2)
    return [cache[:, :4], (keys[:, :1] @ cache.transpose(1, 2)).sum(-1)]


@program("writes", f(2, 3), f(3, 3))
def a_recurrent_loop_in_place(m, state, weight):
    history = m.zeros(4, 2, 3)
    for t in range(4):
        state.copy_((state @ weight * 0.1).tanh_())
        history[t] = state
    return [history, state._version]


@program("writes", f(6))
def halves_swapped_through_a_clone(m, x):
    a, b = x.chunk(2)
    kept = a.clone()
    a.copy_(b)
    b.copy_(kept)
    return [a, b]


@program("writes", f(6))
def shifted_within_itself(m, x):
    x[1:] = x[:-1].clone()
    x[:2], x[4:] = x[4:].clone(), x[:2].clone()
    return [x]


@program("writes", f(3, 3))
def symmetrized_in_place(m, x):
    x.add_(x.t().clone()).div_(2)
    return [(x - x.t()).abs().sum()]


@program("writes", f(3))
def chained_calls_return_the_target(m, x):
    y = x.add_(1)
    z = x[1:].mul_(2)
    return [y is x, z is x, shares(z, x), x._version, z._version]


@program("writes", f(2, 3))
def a_clone_is_apart(m, x):
    y = x.clone()
    y.zero_()
    z = x.t().clone()
    x.add_(1)
    return [y, z, geometry(z), shares(x, y), y._version]


@program("writes", f(3), f(3))
def where_and_out(m, x, y):
    m.where(x > 0, x, y, out=y)
    m.clamp(x, min=0, out=x)
    return [x, y]


@program("writes", f(5), versions=False)
def sort_into_outputs(m, x):
    values, places = m.empty(0), m.empty(0, dtype=m.int64)
    m.sort(x, out=(values, places))
    x.copy_(values)
    return [values, places]


@program("writes", f(2, 2))
def fill_with_a_tensor(m, x):
    x.fill_(m.tensor(3.0))
    x[0].fill_(x[1, 1])
    x[1, 0] = x[0, 0] + 1
    return [x]


@program("writes", f(0, 3), f(3))
def writes_of_no_elements(m, empty, x):
    empty.add_(1)
    x[3:] = 5
    x[m.zeros(3, dtype=m.bool)] = 7
    x[m.tensor([], dtype=m.int64)] = 8
    return [x, tuple(empty.shape)]


@program("writes", f())
def writes_to_a_scalar(m, x):
    x[...] = 3
    x[()] += 1
    x.add_(x)
    return [x, geometry(x)]


@program("writes", f())
def a_scalar_assigned_by_mask(m, x):
    x[x < 0] = 2
    x[x > 1] += 1
    return [x]


@program("writes", f(3, 2))
def rows_by_a_list_of_bools(m, x):
    y = x[[True, False, True]]
    x[[False, True, True], 1] = 8
    y.zero_()
    return [y]


@program("writes", lambda m, made: m.tensor([True, False, True]))
def writes_to_bools(m, mask):
    mask[1:] |= mask[:-1].clone()
    mask.logical_xor_(m.tensor([True, True, False]))
    return [mask, refusal(lambda: mask.add_(1))]


@program("writes", f(4, 4))
def blocks_of_a_matrix(m, x):
    blocks = x.unflatten(0, (2, 2)).unflatten(2, (2, 2)).transpose(1, 2)
    blocks[0, 1].zero_()
    blocks[1, 0].add_(blocks[1, 1])
    return [blocks, geometry(blocks)]


@program("writes", f(2, 8))
def rotary_halves_in_place(m, x):
    even, odd = x[..., ::2], x[..., 1::2]
    kept = even.clone()
    even.mul_(0.5).sub_(odd * 0.25)
    odd.mul_(0.5).add_(kept * 0.25)
    return [x]


# --- what a tensor shows, and storages ---------------------------------------------------------------------------


@program("metadata", f(2, 3))
def transpose_in_place(m, x):
    x.t_()
    x[0].zero_()
    return [geometry(x), x._version]


@program("metadata", f(2, 3, 4))
def transpose_two_dims_in_place(m, x):
    y = x[1]
    x.transpose_(0, 2)
    x[0, 0] = 90
    return [geometry(x), y]


@program("metadata", f(1, 3, 1))
def squeeze_in_place(m, x):
    first = geometry(x.squeeze_(0))
    second = geometry(x.squeeze_())
    x.add_(1)
    return [first, second]


@program("metadata", f(3))
def unsqueeze_in_place(m, x):
    shapes = [geometry(x.unsqueeze_(0)), geometry(x.unsqueeze_(-1))]
    x[0, 1] = 4
    return shapes


@program("metadata", f(2, 3))
def swapaxes_in_place(m, x):
    x.swapaxes_(0, 1)
    x.add_(m.tensor([10.0, 20.0]))
    x.swapdims_(0, 1)
    return [geometry(x)]


@program("metadata", f(2, 3))
def a_view_turned_leaves_its_base(m, x):
    y = x[:, 1:]
    y.t_()
    y[0] = 5
    return [geometry(x), geometry(y), shares(x, y)]


@program("metadata", f(6))
def resize_down_and_up_again(m, x):
    x.resize_(2, 2)
    smaller = geometry(x)
    x.mul_(2)
    x.resize_(3, 2)
    return [smaller, geometry(x)]


@program("metadata", f(2))
def resize_up_then_fill(m, x):
    x.resize_(2, 3)
    x.fill_(3)
    return [geometry(x), x.untyped_storage().nbytes()]


@program("metadata", f(2), f(3, 2))
def resize_as_another(m, x, y):
    x.resize_as_(y).copy_(y)
    return [geometry(x), shares(x, y)]


@program("metadata", f(4), f(2, 3))
def set_to_a_tensor(m, x, y):
    x.set_(y)
    x.add_(1)
    return [geometry(x), shares(x, y)]


@program("metadata", f(4))
def set_to_nothing(m, x):
    y = x[1:]
    x.set_()
    return [tuple(x.shape), shares(x, y), y]


@program("metadata", f(3), f(6))
def set_to_a_storage(m, x, y):
    x.set_(y.untyped_storage())
    return [geometry(x)]


@program("metadata", f(3), f(6))
def set_to_a_part_of_a_storage(m, x, y):
    x.set_(y.untyped_storage(), 1, (2, 2), (3, 1))
    x.mul_(10)
    return [geometry(x), shares(x, y)]


@program("metadata", f(3), f(6))
def set_to_a_part_of_a_tensor(m, x, y):
    x.set_(y, 2, (2, 2), (2, 1))
    x.zero_()
    return [geometry(x), shares(x, y)]


@program("metadata", f(3), i(3))
def set_to_another_dtype_is_refused(m, x, k):
    return [refusal(lambda: x.set_(k)), geometry(x)]


@program("metadata", f(4), of(0, lambda x: x[:2]), f(3))
def a_view_set_to_another(m, x, y, z):
    y.set_(z)
    y.add_(1)
    return [geometry(y), shares(x, y), shares(y, z)]


@program("metadata", f(4), of(0, lambda x: x[1:]))
def a_view_resized(m, x, y):
    y.resize_(2)
    y.mul_(2)
    return [geometry(y), shares(x, y)]


@program("metadata", f(4), of(0, lambda x: x[2:]), f(3))
def data_of_a_view_assigned(m, x, y, z):
    y.data = z
    y.zero_()
    return [geometry(y), shares(x, y), shares(y, z)]


@program("metadata", f(12))
def as_strided_in_place(m, x):
    x.as_strided_((3, 2), (4, 1), 1)
    x.add_(100)
    return [geometry(x)]


@program("metadata", f(12))
def as_strided_read_and_written(m, x):
    y = x[2:8].as_strided((2, 2), (3, 2), 5)
    windows = x.as_strided((5, 4), (2, 1))
    y.mul_(-1)
    return [y, geometry(y), windows, shares(x, y)]


@program("metadata", f(4), f(2, 2))
def data_assigned(m, x, y):
    z = x[1:]
    x.data = y
    x.add_(1)
    return [geometry(x), shares(x, y), shares(x, z), z]


@program("metadata", f(4))
def data_written(m, x):
    x.data.mul_(2)
    x.data[1:] = 0
    return [x]


@program("metadata", f(4))
def storage_to_nothing_and_back(m, x):
    kept = x.clone()
    x.untyped_storage().resize_(0)
    gone = (x.untyped_storage().nbytes(), geometry(x))
    x.untyped_storage().resize_(16)
    x.copy_(kept)
    return [gone, x]


@program("metadata", f(4))
def storage_shared_by_views_resized(m, x):
    y = x[1:3]
    storage = x.untyped_storage()
    storage.resize_(32)
    x.resize_(8)
    x[4:] = 6
    y.zero_()
    return [storage.nbytes(), shares(x, y), y, geometry(x)]


@program("metadata", f(6))
def storage_shrunk_below_a_view(m, x):
    y = x[:2]
    x.untyped_storage().resize_(8)
    x.resize_(2)
    y.add_(1)
    return [y, x.untyped_storage().nbytes()]


@program("metadata", zeros(0), f(3))
def empty_tensor_grown_and_filled(m, x, y):
    x.resize_(2, 3)
    x.copy_(y)
    x[0].neg_()
    return [geometry(x), x.untyped_storage().nbytes()]


@program("metadata", f(2, 3))
def requires_grad_is_metadata(m, x):
    x.requires_grad_()
    first = x.requires_grad
    x.requires_grad_(False)
    x.add_(1)
    return [first, x.requires_grad, x.is_leaf]


# --- gradients ---------------------------------------------------------------------------------------------------


@program("autograd", leaf(3))
def backward_of_a_write(m, w):
    y = w * 2
    y.mul_(y + 1)
    y.sum().backward()
    return [y, w.grad]


@program("autograd", leaf(3))
def gradients_accumulate(m, w):
    (w * 2).sum().backward()
    first = w.grad.clone()
    grad = w.grad
    (w * w).sum().backward()
    return [first, w.grad, w.grad is grad]


@program("autograd", leaf(4))
def gradients_zeroed_in_place(m, w):
    (w * 3).sum().backward()
    w.grad.zero_()
    w.exp().sum().backward()
    w.grad[1:].mul_(2)
    return [w.grad]


@program("autograd", leaf(4))
def a_hook_changes_the_gradient(m, w):
    y = w * 2
    y.register_hook(lambda grad: grad * 10)
    z = y * y
    z[1:].add_(1)
    z.sum().backward()
    return [w.grad]


@program("autograd", leaf(4))
def a_hook_of_a_leaf_that_is_removed(m, w):
    handle = w.register_hook(lambda grad: grad.clamp(-1, 1))
    (w * w).sum().backward()
    handle.remove()
    first = w.grad.clone()
    (w * w).sum().backward()
    return [first, w.grad]


@program("autograd", leaf(3))
def the_gradient_of_an_intermediate(m, w):
    y = w * 2
    y.retain_grad()
    (y * y).sum().backward()
    return [y.grad, w.grad, y.is_leaf]


@program("autograd", leaf(3))
def a_leaf_is_not_written(m, w):
    def assign():
        w[0] = 1

    def double():
        nonlocal w
        w *= 2

    calls = (lambda: w.add_(1), lambda: w[1:].zero_(), assign, double, lambda: w.t_(), lambda: w.view(3).exp_())
    return [[refusal(call) for call in calls], w, w._version]


@program("autograd", leaf(3))
def a_leaf_is_written_without_gradients(m, w):
    (w * w).sum().backward()
    with m.no_grad():
        w.sub_(0.1 * w.grad)
        w[0] = 5
    w.grad = None
    (w * w).sum().backward()
    return [w.grad, w.requires_grad, w.is_leaf, w._version]


@program("autograd", f(4), leaf(2))
def backward_through_a_product_into_a_slice(m, x, w):
    y = x * 1
    y[1:3].mul_(w)
    (y * y).sum().backward()
    return [y, w.grad]


@program("autograd", leaf(4), leaf(2))
def backward_through_an_assignment(m, w, v):
    y = w * 2
    y[1:3] = v * v
    y[0] = w[3]
    (y * m.arange(4, dtype=m.float32)).sum().backward()
    return [w.grad, v.grad]


@program("autograd", leaf(2, 3))
def backward_through_t_(m, w):
    y = w * 2
    y.t_()
    y[0].mul_(3)
    (y * y).sum().backward()
    return [geometry(y), w.grad]


@program("autograd", leaf(3), leaf(2, 3), i(3))
def backward_through_copy(m, w, v, k):
    y = v * 2
    y.copy_(w)
    z = k.to(m.float32).copy_(w)
    (y * y + z).sum().backward()
    return [w.grad, v.grad]


@program("autograd", leaf(3))
def backward_through_copy_of_doubles(m, w):
    y = m.zeros(2, 3, dtype=m.float64)
    y[1].copy_(w)
    (y * y).sum().backward()
    return [y, w.grad]


@program("autograd", leaf(3))
def detached_in_place(m, w):
    y = w * 2
    z = y * 3
    y.detach_()
    y.add_(1)
    z.sum().backward()
    return [w.grad, y.requires_grad, y.is_leaf, refusal(lambda: (w * 2)[1:].detach_())]


@program("autograd", f(3))
def gradients_required_after_a_write(m, x):
    x.mul_(2)
    x.requires_grad_()
    y = x.sin()
    y[1:].add_(x[:2])
    y.sum().backward()
    return [x.grad, x.is_leaf]


@program("autograd", leaf(2, 4))
def write_to_a_view_of_an_intermediate(m, w):
    y = w * w
    row = y[1]
    row.mul_(2)
    row[2:].sin_()
    (y.sum() + row.sum()).backward()
    return [row, w.grad]


@program("autograd", leaf(2, 4))
def a_view_made_before_a_write_to_its_base(m, w):
    y = w * 2
    column = y[:, 1]
    y.mul_(3)
    column.sum().backward()
    return [column, column.grad_fn is not None, w.grad]


@program("autograd", leaf(5))
def clamps_and_relus_in_place(m, w):
    y = (w * 2).clamp_(-3, 4).add_(1).relu_().mul(w).tanh_()
    y.sum().backward()
    return [y, w.grad]


@program("autograd", leaf(3, 2), f(4, 3))
def a_step_of_gradient_descent(m, w, x):
    momentum = m.zeros(3, 2)
    for _ in range(2):
        loss = ((x @ w) ** 2).mean()
        loss.backward()
        with m.no_grad():
            momentum.mul_(0.9).add_(w.grad)
            w.add_(momentum, alpha=-0.05)
            w.grad.zero_()
    return [loss, momentum]


@program("autograd", leaf(3), f(3))
def a_step_of_adam(m, w, x):
    first, second = m.zeros(3), m.zeros(3)
    for t in (1, 2):
        w.grad = None
        ((w - x).tanh() ** 2).sum().backward()
        with m.no_grad():
            first.lerp_(w.grad, 0.1)
            second.mul_(0.99).addcmul_(w.grad, w.grad, value=0.01)
            scale = (second / (1 - 0.99**t)).sqrt_().add_(1e-8)
            w.addcdiv_(first, scale, value=-0.1 / (1 - 0.9**t))
    return [first, second]


@program("autograd", leaf(2, 3))
def backward_through_an_assignment_by_mask(m, w):
    y = w * 2
    y[w > 0] = 5
    y[y < -3] *= 2
    (y * y).sum().backward()
    return [y, w.grad]


@program("autograd", leaf(4), leaf(3))
def backward_through_index_put_that_accumulates(m, w, v):
    y = w * 1
    y.index_put_((m.tensor([1, 1, 3]),), v, accumulate=True)
    y.index_put_((m.tensor([0]),), v[:1] * v[1:2])
    (y * y).sum().backward()
    return [w.grad, v.grad]


@program("autograd", leaf(4), leaf(2))
def backward_through_index_writes(m, w, v):
    y = w * 2
    y.index_add_(0, m.tensor([1, 1]), v)
    y.index_copy_(0, m.tensor([3]), v[:1] * 3)
    y.index_fill_(0, m.tensor([0]), 1)
    (y * y).sum().backward()
    return [w.grad, v.grad]


@program("autograd", leaf(3, 3), leaf(2, 3))
def backward_through_scatters(m, w, v):
    y = w * 2
    index = m.tensor([[0, 1, 2], [2, 0, 1]])
    y.scatter_(0, index[:1], v[:1])
    y.scatter_add_(0, index, v * v)
    (y * y).sum().backward()
    return [w.grad, v.grad]


@program("autograd", leaf(3), leaf(2))
def backward_through_masked_writes(m, w, v):
    y = w * 2
    mask = m.tensor([True, False, True])
    y.masked_scatter_(mask, v)
    z = (y * y).masked_fill_(mask.logical_not(), 4)
    z.sum().backward()
    return [z, w.grad, v.grad]


@program("autograd", leaf(3, 4))
def backward_through_blocks(m, w):
    y = w.clone()
    a, b = y.t()[:2], y[:, 2:]
    a.mul_(2)
    b.add_(a.t())
    y.diagonal().zero_()
    (y**2).sum().backward()
    return [w.grad]


@program("autograd", leaf(4))
def backward_through_complex_views(m, w):
    y = w * 2
    z = m.view_as_complex(y.view(2, 2))
    z.mul_(1j)
    (y * m.arange(4, dtype=m.float32)).sum().backward()
    return [z, w.grad]


@program("autograd", leaf(2, 3))
def a_loop_that_fills_a_buffer(m, w):
    out = m.zeros(4, 3)
    row = w[0]
    for t in range(4):
        row = (row * w[1]).tanh()
        out[t] = row
    out.sum().backward()
    return [out, out.requires_grad, w.grad]


@program("autograd", leaf(3))
def some_of_it_without_gradients(m, w):
    y = w * 2
    with m.no_grad():
        y.add_(10)
        facts = [y.requires_grad, (w * 3).requires_grad]
    y.mul_(w)
    y.sum().backward()
    return [y, facts, w.grad]


@program("autograd", leaf(3), f(3))
def a_write_saved_by_nobody(m, w, x):
    y = w + 1
    y.add_(x)
    x.zero_()
    z = y * y
    z.sum().backward()
    return [w.grad]


@program("autograd", leaf(2, 2), leaf(2))
def gradients_by_function(m, w, v):
    y = w * v
    y[0].mul_(v)
    first = m.autograd.grad(y.sum(), [w, v], retain_graph=True)
    y.backward(m.ones(2, 2))
    return [*(grad.clone() for grad in first), w.grad]


@program("autograd", leaf(3))
def a_detached_alias_is_written(m, w):
    y = w + 1
    y.detach()[1:].zero_()
    (y * w.detach() + w * w).backward(m.tensor([1.0, 0.0, 0.0]))
    return [y, y.detach().requires_grad]


@program("autograd", leaf(4))
def parts_of_a_split_are_not_written(m, w):
    a, b = (w * 2).split(2)
    first, _ = (w * 2).unbind()[:2]
    return [refusal(lambda: a.add_(1)), refusal(lambda: first.mul_(2)), a, b]


@program("autograd", leaf(3))
def data_of_a_leaf_is_written(m, w):
    w.data.add_(1)
    w.data[0] = 7
    (w * w).sum().backward()
    w.data = m.ones(3)
    return [w.grad, w._version, w.requires_grad]


# --- compiled: inputs that are written, shared, or returned ------------------------------------------------------


def write_outputs(m: Any, inputs: list[Any], outputs: list[Any]) -> list[Any]:
    """Writes to each tensor that came out; those that share memory see it."""
    with m.no_grad():
        for k, output in enumerate(outputs):
            if hasattr(output, "mul_") and output.is_floating_point():
                output.mul_(k + 2)
    return []


def backward_of_outputs(m: Any, inputs: list[Any], outputs: list[Any]) -> list[Any]:
    """Returns the gradients of a weighted sum of what came out."""
    sum((y * (k + 1)).sum() for k, y in enumerate(outputs) if hasattr(y, "grad_fn") and y.requires_grad).backward()
    return [x.grad for x in inputs if x.is_leaf and x.requires_grad]


@program("compiled", f(3), then=write_outputs)
def an_input_written(m, x):
    x.add_(1)
    return [x * 2]


@program("compiled", f(4), then=write_outputs)
def a_slice_of_an_input_written(m, x):
    x[1:3].mul_(5)
    return [x[1:].sum(), x[::2]]


@program("compiled", f(6), of(0, lambda x: x[2:]), n_arguments=1, then=write_outputs)
def a_view_of_a_closed_over_base(m, x, y):
    x.add_(1)
    return [y * 2, y]


@program("compiled", f(6), of(0, lambda x: x.view(2, 3).t()), then=write_outputs)
def a_base_and_its_view(m, x, y):
    y[0].add_(x[0].clone())
    x[1:].mul_(2)
    return [y + 1, x.sum()]


@program("compiled", f(6), of(0, lambda x: x[:4]), of(0, lambda x: x[2:]), then=write_outputs)
def overlapping_views_without_their_base(m, base, a, b):
    a.add_(1)
    b.mul_(2)
    return [a - 1, a[1:], b]


@program("compiled", f(3), of(0, lambda x: x), then=write_outputs)
def one_tensor_twice(m, x, y):
    x.add_(1)
    y.mul_(2)
    return [x is y, x, y]


@program("compiled", leaf(3), then=backward_of_outputs)
def a_view_of_an_intermediate_written(m, w):
    y = w * 2
    y[1:].exp_()
    return [y, y[0]]


@program("compiled", f(4), then=write_outputs)
def an_output_is_an_input(m, x):
    return [x, x[1:], x.view(2, 2), x.detach()]


@program("compiled", f(4), then=write_outputs)
def outputs_share_with_each_other(m, x):
    y = x + 1
    return [y, y[1:], y.t(), y.view(2, 2)[0]]


@program("compiled", f(2, 3), then=write_outputs)
def an_input_turned(m, x):
    x.t_()
    x[0].zero_()
    return [x[1]]


@program("compiled", f(2), then=write_outputs)
def an_input_resized(m, x):
    x.resize_(4)
    x.fill_(3)
    return [x * 2]


@program("compiled", f(3), f(2, 2), then=write_outputs)
def an_input_set_to_another(m, x, y):
    x.set_(y)
    x.mul_(2)
    return [x + 1]


@program("compiled", f(3), then=write_outputs)
def an_input_set_to_something_made(m, x):
    y = x * 2
    x.set_(y)
    x[0] = 50
    return [y]


@program("compiled", f(4))
def the_storage_of_an_input_freed_and_filled(m, x):
    kept = x * 3
    x.untyped_storage().resize_(0)
    x.untyped_storage().resize_(16)
    x.copy_(kept)
    return [x.untyped_storage().nbytes()]


@program("compiled", f(3), zeros(2, 3), n_arguments=1)
def a_closed_over_buffer(m, x, buffer):
    buffer[0].add_(x)
    buffer[1].copy_(buffer[0] * 2)
    return [buffer.sum()]


@program("compiled", f(3), leaf(3), zeros(3), n_arguments=1)
def a_closed_over_parameter_and_its_momentum(m, x, w, momentum):
    ((w * x) ** 2).sum().backward()
    with m.no_grad():
        momentum.mul_(0.9).add_(w.grad)
        w.sub_(0.01 * momentum)
    return [w.grad]


@program("compiled", leaf(2, 3), leaf(3), f(4, 2), zeros())
def a_training_step_in_one_call(m, w, b, x, count):
    loss = ((x @ w + b).relu_() ** 2).mean()
    loss.backward()
    with m.no_grad():
        for p in (w, b):
            p.sub_(0.1 * p.grad)
            p.grad = None
    count.add_(1)
    return [loss.detach()]


@program("compiled", leaf(4), f(4), then=backward_of_outputs)
def an_input_written_with_gradients(m, w, x):
    x[1:].mul_(w[1:])
    return [x, x.requires_grad]


@program("compiled", leaf(4), lambda m, made: made[0] * 2, of(1, lambda y: y[1:]), then=backward_of_outputs)
def a_view_with_history_written(m, w, y, v):
    v.mul_(3)
    return [y * 1, v]


@program("compiled", leaf(4), then=backward_of_outputs)
def an_output_and_its_alias_with_gradients(m, w):
    y = w * w
    z = y[1:]
    z.mul_(3)
    return [y, z, y.detach(), w.view(2, 2)]


@program("compiled", f(4), then=write_outputs)
def an_input_written_and_restored(m, x):
    x.add_(1)
    y = x * 2
    x.sub_(1)
    return [y, x._version]


@program("compiled", f(2, 4), of(0, lambda x: x[:, :2]), of(0, lambda x: x[:, 2:]), then=write_outputs)
def columns_of_one_buffer(m, base, a, b):
    a.copy_(b)
    b.add_(a)
    return [a.t(), b.reshape(-1)]


@program("compiled", c(3), then=write_outputs)
def a_complex_input_written_by_parts(m, x):
    m.view_as_real(x)[..., 1].zero_()
    return [x.real, x * 2]


@program("compiled", f(4), then=write_outputs)
def an_input_seen_as_ints(m, x):
    x.view(m.int32)[1:].zero_()
    return [x.view(m.int32), x + 1]


@program("compiled", f(3), f(3))
def two_inputs_swapped_by_data(m, x, y):
    x.data, y.data = y.data, x.data
    x.add_(1)
    return [x - y]


@program("compiled", f(2, 3), then=write_outputs)
def a_write_to_a_scalar_of_an_input(m, x):
    x[1, 2] += x[0, 0].exp()
    x[0].fill_(x[1, 2])
    return [x[0, 0]]


@program("compiled", f(4), i(2))
def an_input_written_by_an_input_index(m, x, k):
    x[k.abs() % 4] += 1
    x.index_add_(0, k.abs() % 4, m.ones(2))
    return [x[k.abs() % 4]]
