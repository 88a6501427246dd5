"""A graph before and after a pass, each compiled, of which only its speed may differ."""

import jax
import numpy as np

from jaxaot._jax import jaxpr_as_fun
from jaxaot.ir.check import check_graph
from jaxaot.ir.rewrite import inline

QUICKLY = {"xla_backend_optimization_level": 0}
"""Options under which XLA compiles in less time."""


def assert_rewritten(rewrite, fn, *args, rtol=1e-6):
    """Returns the graphs of a function before and after a pass.

    Asserts that inputs, outputs and their types are the same, and values up to `rtol` of themselves and the largest.
    """
    closed = inline(jax.make_jaxpr(fn)(*args), also_custom=True)
    passed = rewrite(closed)
    check_graph(passed)
    assert [(a.shape, a.dtype, a.weak_type) for a in passed.out_avals] == [
        (a.shape, a.dtype, a.weak_type) for a in closed.out_avals
    ]
    results = (jax.jit(jaxpr_as_fun(graph), compiler_options=QUICKLY)(*args) for graph in (passed, closed))
    for got, want in zip(*results, strict=True):
        got, want = np.float32(got), np.float32(want)  # NumPy compiles nothing for shapes that no other test has
        largest = np.abs(want, where=np.isfinite(want), out=np.zeros_like(want)).max(initial=0)
        np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol * (float(largest) + 1))
    return closed, passed
