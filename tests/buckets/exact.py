"""What the tests of sizes share: a program of a bucket, run on padding that shows wherever it leaks, and compared."""

import jax
import jax.numpy as jnp
import numpy as np

from jaxaot.buckets.rules import RULES
from jaxaot.buckets.writer import prepare_program
from jaxaot.ir.alignment import align, values_in
from jaxaot.ir.extents import normal
from jaxaot.ir.rewrite import inline
from jaxaot.passes.dce import dce

QUICK = {"xla_backend_optimization_level": 0}


def graph_of(fn, *args):
    return dce(inline(jax.make_jaxpr(fn)(*args), also_custom=True))


def with_garbage(value, shape):
    """Returns an array of a shape that begins with another one, and is NaN or 1e8 elsewhere."""
    if jnp.issubdtype(getattr(value, "dtype", np.float32), jax.dtypes.extended) or np.shape(value) == tuple(shape):
        return value
    value = np.asarray(value)
    garbage = {"f": np.nan, "c": np.nan, "i": 10**8, "u": 10**8, "b": True}.get(value.dtype.kind, np.nan)
    dtype = value.dtype if value.dtype.itemsize > 1 or value.dtype.kind == "b" else np.int32
    room = np.full(shape, garbage, dtype).astype(value.dtype)
    room[tuple(map(slice, value.shape))] = value
    return room


class Tried(dict):
    """The table of rules, which notes those that were asked for."""

    def __init__(self):
        super().__init__(RULES)
        self.names = set()

    def get(self, name, default=None):
        self.names.add(name)
        return super().get(name, default)


class At:
    """A function's program of a bucket, and whether it computes what the exact programs do."""

    def __init__(self, fn, make, reference, bucket, rules=RULES):
        self.fn, self.make = fn, make
        small, large = (graph_of(fn, *make(size)) for size in (reference, bucket))
        self.graph = align(small, large)
        self.program = prepare_program(self.graph, rules, values_in(self.graph, small))
        self.jitted = jax.jit(self.program, compiler_options=QUICK)

    def outputs(self, size):
        """Returns the results for a size, and those of the exact program."""
        args = self.make(size)
        values = values_in(self.graph, graph_of(self.fn, *args))
        sizes = np.array([values.sizes[pair] for pair in self.program.pairs], np.int32)
        numbers = [values.numbers[key] for key in self.program.numbers]
        tables = [
            with_garbage(values.tables[i], table.bucket.shape)
            for i, table in enumerate(self.graph.tables)
            if not table.is_static
        ]
        leaves = [with_garbage(x, s) for x, s in zip(jax.tree.leaves(args), self.graph.bucket_inputs, strict=True)]
        got = self.jitted(sizes, numbers, tables, leaves)
        why = self.program.misfit(values)
        assert why is None, why
        right = jax.jit(self.fn, compiler_options=QUICK)(*args)
        leaves, tree = jax.tree.flatten(right)
        cut = []
        for array, extents, exact in zip(got, self.program.outputs, leaves, strict=True):
            factors = [factor.size for extent in extents for factor in normal(extent)]
            kept = tuple(slice(size.at(values.sizes.__getitem__)) for size in factors)
            cut.append(np.asarray(array).reshape([size.bucket for size in factors])[kept].reshape(exact.shape))
        return jax.tree.unflatten(tree, cut), right

    def check(self, size, rtol=2e-5, atol=2e-5):
        got, right = self.outputs(size)
        for (path, array), exact in zip(jax.tree_util.tree_leaves_with_path(got), jax.tree.leaves(right), strict=True):
            assert array.dtype == exact.dtype
            message = f"{jax.tree_util.keystr(path)} at {size}"
            np.testing.assert_allclose(array, np.asarray(exact), rtol, atol, err_msg=message)
