"""Two traces side by side: what goes together, what is a class, and what a further trace has to be like."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from jaxaot.ir.alignment import NotAlikeError, align, values_in
from tests.buckets.exact import graph_of

X = np.arange(80.0, dtype=np.float32).reshape(20, 4)


def aligned(fn, *sizes):
    exact, bucket, *further = (graph_of(fn, X[:n]) for n in sizes)
    graph = align(exact, bucket)
    return graph, [values_in(graph, each) for each in further]


def test_sizes_and_numbers_that_differ_are_classes():
    graph, (at_5,) = aligned(lambda x: x.mean(0) * np.float32(2) + x[-1], 11, 16, 5)
    assert at_5.sizes[11, 16] == 5
    assert at_5.sizes[10, 15] == 4  # where the last row starts
    assert sorted(value.item() for value in at_5.numbers.values()) == [5.0]  # what the mean divides by
    assert not graph.tables


def test_tables_that_depend_on_sizes():
    other = np.arange(4.0, dtype=np.float32)
    graph, (at_5,) = aligned(lambda x: np.tril(np.ones((x.shape[0],) * 2, np.float32)) @ x + other, 11, 16, 5)
    assert [table.is_static for table in graph.tables].count(False) == 1
    (table,) = at_5.tables.values()
    assert np.array_equal(table, np.tril(np.ones((5, 5))))


@pytest.mark.parametrize("n", [5, 16, 20])
def test_what_a_border_leaves_out_is_an_identity(n):
    """All 16 rows of a table are no slice, and 20 rows of x are no slice of it."""
    table = jnp.ones((20, 4))

    def fn(x):
        return jnp.concatenate([x + table[: x.shape[0]], jnp.pad(x, ((0, 20 - x.shape[0]), (0, 0)))])

    graph, (values,) = aligned(fn, 11, 20, n)
    assert values.sizes[11, 20] == n
    assert [eqn.name for eqn in graph.eqns].count("slice") == 1


def test_bodies_of_loops_are_aligned_too():
    table = jnp.ones((16, 4))

    def fn(x):
        return lax.scan(lambda h, w: (h * w + table[: x.shape[0]], None), x, jnp.arange(3.0))[0]

    graph, (values,) = aligned(fn, 11, 16, 5)
    assert values.sizes[11, 16] == 5
    assert any(body.depends_on_sizes for eqn in graph.eqns for body in eqn.bodies)


def branch(x):
    return jnp.sin(x) if x.shape[0] > 8 else jnp.cos(x)


def turns(x):
    for _ in range(x.shape[0]):
        x = x * 2
    return x


@pytest.mark.parametrize(
    ("fn", "sizes", "words"),
    [
        (branch, (5, 16), "where one has `cos`"),
        (branch, (11, 16, 5), "where they have `sin`"),
        (turns, (5, 6), "where one has the end"),
        (lambda x: x * (x.shape[0] > 8), (11, 16, 5), "a number is 0.0 in it, and 1.0 in them"),
        (
            lambda x: (x[1:], jnp.ones(min(x.shape[0] - 1, 12))),
            (9, 11, 14),
            "two sizes are equal in them, and 13 and 12",
        ),
        (lambda x: x[: x.shape[0] // 8 + 1], (11, 12, 5), "a number in `slice` at"),
        (lambda x: x + np.float32([x.shape[0] // 8, 1, 2, 3]), (11, 12, 5), "a constant of it is another one"),
    ],
)
def test_graphs_that_are_not_alike_say_where(fn, sizes, words):
    with pytest.raises(NotAlikeError, match=words):
        aligned(fn, *sizes)


def test_literals_of_other_values_are_other_classes():
    fn = lambda x: x * np.float32(x.shape[0]) + np.float32(x.shape[0] ** 2)
    _, (values,) = aligned(fn, 11, 16, 5)
    assert sorted(value.item() for value in values.numbers.values()) == [5.0, 25.0]


def test_keys_from_outside_are_the_same_or_refused():
    key = jax.random.key(0)
    _, (values,) = aligned(lambda x: x * jax.random.uniform(key, x.shape), 11, 16, 5)
    assert values.sizes[11, 16] == 5
