"""Placements of inputs are carried through a graph as XLA carries them, for bytes of one device."""

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AbstractMesh, AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

from jaxaot.ir.placements import NOWHERE, Placements, placed_by, placements_of, speaks_of_meshes
from jaxaot.ir.rewrite import inline

SIZES = {"data": 2, "model": 4}
MESH = AbstractMesh(tuple(SIZES.values()), tuple(SIZES), axis_types=(AxisType.Auto,) * 2)


def lying(*spec):
    return NamedSharding(MESH, P(*spec))


def placed(fn, *args):
    """Returns how the result of a function lies whose arguments are pairs of a shape and a spec."""
    types = [jax.ShapeDtypeStruct(shape, dtype) for shape, _, dtype in (((*arg, "float32")[:3]) for arg in args)]
    closed = inline(jax.make_jaxpr(fn)(*types), also_custom=True)
    known = Placements(closed.jaxpr, placed_by([lying(*arg[1]) for arg in args]))
    return tuple("+".join(axes) for axes in known.of.get(closed.jaxpr.outvars[0], ()))


BATCH, ROWS, COLUMNS = ((8, 16, 32), ("data",)), ((32, 64), ("model",)), ((32, 64), (None, "model"))
CASES = {
    "a gathered weight": (lambda x, w: x @ w, BATCH, ((32, 64), ("data",)), ("data", "", "")),
    "columns of a weight": (lambda x, w: x @ w, BATCH, COLUMNS, ("data", "", "model")),
    "a sum over a divided axis": (lambda x, w: x @ w, ((8, 32), ("data", "model")), ROWS, ("data", "")),
    "one axis wanted twice": (lambda x, w: x @ w, ((8, 32), ("model",)), COLUMNS, ("", "model")),
    "heads": (lambda x, y: (x + y).reshape(8, 16, 4, 8), ((8, 16, 32), ("data", None, "model")), BATCH,
              ("data", "", "model", "")),
    "merged": (lambda x, y: x.reshape(128, 32) * y, BATCH, ((128, 32), ()), ("data", "")),
    "a mean": (lambda x, y: jnp.swapaxes(x, 0, 1).mean(-1) + y, BATCH, ((16, 8), ()), ("", "data")),
    "rows of a table": (lambda t, i: t[i], ((64, 32), (None, "model")), ((8, 16), ("data",), "int32"),
                        ("data", "", "model")),
    "rows of a loop": (lambda x, w: jax.lax.scan(lambda c, row: (c @ row, c), x, w)[1], ((8, 32), ("data",)),
                       ((3, 32, 32), (None, "model")), ("", "data", "")),
    "a branch": (lambda x, y: jax.lax.cond(y.sum() > 0, jnp.sin, jnp.cos, x), BATCH, ROWS, ("data", "", "")),
    "images": (lambda x, k: jax.lax.conv_general_dilated(x, k, (1, 1), "SAME"), ((8, 3, 9, 9), ("data",)),
               ((16, 3, 3, 3), ("model",)), ("data", "model", "", "")),
    "an axis that does not divide": (lambda x, y: x + y, ((1, 32), ("data", "model")), ((1, 32), ()), ("", "model")),
    "asked for": (lambda x, w: jax.lax.with_sharding_constraint(x @ w, lying(None, "model")), BATCH, ROWS,
                  ("", "model", "")),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_result_lies_as_its_operands_do(case):
    fn, x, y, right = CASES[case]
    assert placed(fn, x, y) == right


def test_a_gradient_lies_as_its_parameter_and_zeros_as_what_they_are_added_to():
    def loss(w, x):
        return (jnp.tanh(x @ w) ** 2).sum()

    types = jax.ShapeDtypeStruct((32, 64), "float32"), jax.ShapeDtypeStruct((8, 32), "float32")
    jaxpr = jax.make_jaxpr(jax.grad(loss))(*types).jaxpr
    given = placed_by([lying("data"), lying("data")])
    known = Placements(jaxpr, type(given)(given.sizes, given.inputs, given.inputs[:1]))
    assert all(var in known.of for eqn in jaxpr.eqns for var in eqn.outvars if var.aval.ndim == 2)
    assert known.part(jaxpr.outvars[0]).shape == (16, 64)


def test_types_of_explicit_meshes_say_where_values_lie():
    mesh = AbstractMesh((4,), ("data",), axis_types=(AxisType.Explicit,))
    typed = jax.ShapeDtypeStruct((8, 32), "float32", sharding=NamedSharding(mesh, P("data")))
    with jax.sharding.use_abstract_mesh(mesh):
        jaxpr = jax.make_jaxpr(lambda x: jnp.sin(x) * 2)(typed).jaxpr
    assert speaks_of_meshes(jaxpr)
    assert Placements(jaxpr, NOWHERE).part(jaxpr.outvars[0]).shape == (2, 32)


def test_nothing_is_divided_where_nothing_is_placed():
    jaxpr = jax.make_jaxpr(lambda x: x @ x)(jnp.ones((4, 4))).jaxpr
    assert placements_of(jaxpr, NOWHERE) is None and not speaks_of_meshes(jaxpr)
    assert placements_of(jaxpr, placed_by([lying()])) is None
