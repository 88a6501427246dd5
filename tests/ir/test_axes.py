"""An equation computed in parts along any of its ways is the equation."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from jaxaot._jax import Literal
from jaxaot.ir import axes
from jaxaot.ir.axes import params_of_part, splits, splits_together
from jaxaot.ir.primitives import KINDS
from jaxaot.ir.rewrite import inline
from tests.seeds import some


def normal(*shape):
    return jax.random.normal(jax.random.key(sum(shape)), shape)


def dot(*dims):
    return lambda x, y: lax.dot_general(x, y, dims)


def window(reducer, init, **options):
    return lambda x: lax.reduce_window(x, init, reducer, **options)


def convolve(**options):
    return lambda x, kernel: lax.conv_general_dilated(x, kernel, (1, 1), "SAME", **options)


def pooled_slope(x):
    pool = window(lax.max, -jnp.inf, window_dimensions=(1, 2, 2, 1), window_strides=(1, 2, 2, 1), padding="VALID")
    return jax.grad(lambda x: (pool(x) ** 2).sum())(x)


POOL = {"window_dimensions": (1, 3, 1), "window_strides": (1, 2, 1), "padding": ((0, 0), (1, 1), (0, 0))}

CASES = {
    "elementwise": (lambda x, y: jnp.where(x > 0, x * y, 2.0), [(4, 6), (4, 6)], 4),
    "of one element": (lambda x, y: lax.sub(x, y), [(4, 6), (4, 1)], 2),
    "cast": (lambda x: x.astype(jnp.bfloat16), [(4, 6)], 2),
    "bits": (lambda x: lax.bitcast_convert_type(x, jnp.int32), [(4, 6)], 2),
    "transpose": (lambda x: x.transpose(2, 0, 1), [(2, 4, 6)], 3),
    "reshape that merges": (lambda x: lax.reshape(x, (8, 6)), [(2, 4, 6)], 2),
    "reshape that splits": (lambda x: lax.reshape(x, (2, 4, 2, 3)), [(8, 6)], 2),
    "reshape with one element": (lambda x: lax.reshape(x, (4, 1, 6)), [(1, 4, 6)], 2),
    "broadcast": (lambda x: lax.broadcast_in_dim(x, (2, 4, 6), (0, 2)), [(1, 6)], 3),
    "squeeze": (lambda x: lax.squeeze(x, (0, 2)), [(1, 4, 1, 6)], 2),
    "slice": (lambda x: x[:, 1:3, ::2], [(4, 6, 8)], 1),
    "concatenate": (lambda x, y: jnp.concatenate([x, y], 1), [(4, 2), (4, 6)], 1),
    "pad": (lambda x: lax.pad(x, 0.0, ((0, 0, 0), (1, 2, 0))), [(4, 6)], 1),
    "sum": (lambda x: x.sum((0, 2)), [(2, 4, 6)], 3),
    "max": (lambda x: x.max(1), [(2, 4)], 2),
    "min": (lambda x: x.min(0), [(2, 4)], 2),
    "product": (lambda x: x.prod(0), [(2, 4)], 2),
    "all": (lambda x: (x > -1).all(0), [(2, 4)], 4),
    "any": (lambda x: (x > 1).any(1), [(2, 4)], 4),
    "cumulative sum": (lambda x: jnp.cumsum(x, 1), [(4, 6)], 1),
    "window": (window(lax.max, -jnp.inf, **POOL), [(2, 7, 4)], 2),
    "window of sums": (window(lax.add, 0.0, **POOL), [(2, 7, 4)], 2),
    "slope of a window": (pooled_slope, [(2, 4, 4, 2)], 2),
    "matrices": (dot(((1,), (0,)), ((), ())), [(4, 6), (6, 8)], 3),
    "batched": (dot(((2,), (2,)), ((0,), (1,))), [(2, 4, 6), (8, 2, 6)], 4),
    "reversed": (lambda x: lax.rev(x, (1,)), [(4, 6)], 1),
    "best": (lambda x: lax.argmax(x, 1, jnp.int32), [(2, 4, 6)], 2),
    "stacked": (lambda x, y: jnp.stack([x, y], 1), [(4, 6), (4, 6)], 2),
    "numbered": (lambda x: x + lax.broadcasted_iota(jnp.float32, (4, 6), 1), [(4, 6)], 3),
    "split": (lambda x: jnp.split(x, 3, 1)[1], [(4, 6)], 1),
    "sorted": (lambda x, y: lax.sort((x, y), dimension=0, num_keys=1)[1], [(4, 6), (4, 6)], 1),
    "largest": (lambda x: lax.top_k(x, 2)[0], [(2, 4, 6)], 2),
    "slice at a place": (lambda x: lax.dynamic_slice(x, (x[0, 0].astype(int), 0), (2, 6)), [(4, 6)], 1),
    "update at a place": (lambda x: lax.dynamic_update_slice(x, x[:2], (x[0, 0].astype(int), 0)), [(4, 6)], 2),
    "rows": (lambda x: x[jnp.array([[0, 3], [1, 1]])], [(4, 6)], 3),
    "rows of each": (lambda x: jnp.take_along_axis(x, jnp.array([[0, 3, 1, 1], [2, 2, 0, 1]]), 1), [(2, 6)], 2),
    "slope of rows": (jax.grad(lambda x: (x[jnp.array([[0, 3], [1, 1]])] ** 2).sum()), [(4, 6)], 2),
    "slope of columns": (jax.grad(lambda x: (x[:, jnp.array([0, 3, 3])] ** 2).sum()), [(4, 6)], 2),
    "slope of rows of each": (
        jax.grad(lambda x: (jnp.take_along_axis(x, jnp.array([[0, 3], [2, 2]]), 1) ** 2).sum()),
        [(2, 6)],
        2,
    ),
    "convolution": (convolve(), [(2, 4, 6, 6), (8, 4, 3, 3)], 3),
    "convolution in groups": (convolve(feature_group_count=2), [(2, 4, 6, 6), (8, 2, 3, 3)], 1),
    "slope of a kernel": (
        jax.grad(lambda x, k: (convolve()(x, k) ** 2).sum(), 1),
        [(2, 4, 6, 6), (8, 4, 3, 3)],
        3,
    ),
    "slope of a kernel in groups": (
        jax.grad(lambda x, k: (convolve(feature_group_count=2)(x, k) ** 2).sum(), 1),
        [(2, 4, 6, 6), (8, 2, 3, 3)],
        1,
    ),
    "several contracted": (dot(((0, 2), (1, 0)), ((), ())), [(2, 4, 6), (6, 2)], 3),
}


def in_parts(eqn, split, values, n):
    operands = [
        [value] * n if axis is None else np.split(np.asarray(value), n, axis)
        for value, axis in zip(values, split.operands, strict=True)
    ]
    sizes = {} if split.result is None else {split.result: eqn.outvars[0].aval.shape[split.result] // n}
    params = params_of_part(eqn, sizes)
    parts = [eqn.primitive.bind(*map(jnp.asarray, (part[k] for part in operands)), **params) for k in range(n)]
    if split.result is None:
        return [functools.reduce(split.combine.bind, parts)]
    parts = parts if eqn.primitive.multiple_results else [[part] for part in parts]
    return [jnp.concatenate(results, split.result) for results in zip(*parts, strict=True)]


@pytest.mark.few(2)
@pytest.mark.parametrize("name", some(CASES, 5))
def test_parts_are_the_whole(name):
    fn, shapes, least = CASES[name]
    values = [normal(*shape) for shape in shapes]
    closed = inline(jax.make_jaxpr(fn)(*values), also_custom=True)
    env = dict(zip(closed.jaxpr.invars, values, strict=True))
    env.update(zip(closed.jaxpr.constvars, closed.consts, strict=True))
    read = lambda atom: atom.val if isinstance(atom, Literal) else env[atom]
    n_splits = 0
    for eqn in closed.jaxpr.eqns:
        operands = [read(atom) for atom in eqn.invars]
        bound = eqn.primitive.bind(*operands, **eqn.params)
        results = bound if eqn.primitive.multiple_results else [bound]
        env.update(zip(eqn.outvars, results, strict=True))
        for split in splits_together(eqn):
            sizes = [np.shape(v)[axis] for v, axis in zip(operands, split.operands, strict=True) if axis is not None]
            if split.result is not None:
                sizes.append(eqn.outvars[0].aval.shape[split.result])
            if any(size % 2 for size in sizes):
                continue
            n_splits += 1
            for got, want in zip(in_parts(eqn, split, operands, 2), results, strict=True):
                assert got.dtype == want.dtype
                np.testing.assert_allclose(np.float32(got), np.float32(want), rtol=1e-5, atol=1e-5)
    assert n_splits >= least


def test_of_what_is_not_known_there_is_no_way():
    for fn in (lambda x: jnp.sort(x), lambda x: lax.cumsum(x, 0), lambda x: x[::-1], lambda x: lax.top_k(x, 2)):
        closed = inline(jax.make_jaxpr(fn)(normal(4)))
        assert all(not splits_together(eqn) for eqn in closed.jaxpr.eqns)
    assert not splits(inline(jax.make_jaxpr(lambda x: lax.top_k(x, 2))(normal(4, 4))).jaxpr.eqns[0])


def test_rules_are_of_primitives_that_exist():
    assert {*axes._RULES, *axes._RULES_OF_SEVERAL} <= set(KINDS)
