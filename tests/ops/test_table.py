"""The op table by itself: schemas, promotion, names, dims and the words of their errors."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot.ops.register_rows  # noqa: F401
from jaxaot.errors import DimError, DtypeError, DuplicateOpError, SchemaError, ShapeMismatchError
from jaxaot.ops import table
from jaxaot.ops.dims import broadcast_shapes, normalize_dim, normalize_dims
from jaxaot.ops.promotion import default_int, result_dtype
from jaxaot.ops.schema import parse_schema
from tests.cases import each

ROWS = list(table.rows())


def evaluate(name, dynamic, static=(), key=None):
    results = table.lookup(name).evaluate(dynamic, static, key)
    return results[0] if len(results) == 1 else results


def test_there_are_many_rows():
    assert len(ROWS) >= 300


@each("spec", ROWS, ids=lambda spec: spec.name)
def test_schema_survives_printing(spec):
    assert parse_schema(str(spec.schema)) == spec.schema


def test_every_random_row_takes_a_key_and_methods_take_a_tensor():
    for spec in ROWS:
        assert not spec.has_method or spec.schema.parameters, spec.name
        if spec.has_method:
            assert any(parameter.type == "Tensor" for parameter in spec.schema.parameters), spec.name
        if spec.overload_of:
            assert table.lookup(spec.overload_of).overload_of is None


def test_promoted_names_exist():
    for spec in ROWS:
        assert set(spec.promoted) <= {parameter.name for parameter in spec.schema.dynamic}, spec.name


def test_a_name_is_claimed_once():
    with pytest.raises(DuplicateOpError, match="Two rows claim the op `sin`"):
        table.register_op("sin(Tensor self) -> Tensor")(lambda self: self)
    with pytest.raises(DuplicateOpError, match="`multiply`"):
        table.register_op("multiply(Tensor self) -> Tensor")(lambda self: self)


@pytest.mark.parametrize("text", ["sin", "sin(Tensor) -> Tensor", "sin(Foo x) -> Tensor"])
def test_a_bad_schema_is_refused(text):
    with pytest.raises(SchemaError):
        parse_schema(text)


def test_overloads_and_names():
    assert [spec.name for spec in table.overloads("max")] == ["max", "max_dim", "max_other"]
    assert table.lookup("linalg_norm").name_in("linalg") == "norm"
    assert table.lookup("normal_fill").inplace_name == "normal_"
    assert table.lookup("add").inplace_name == "add_"
    assert table.lookup("maximum").inplace_name is None


def of(dtype, *shape):
    return jax.device_put(np.zeros(shape, dtype))  # which compiles nothing


@pytest.mark.parametrize(
    ("operands", "expected"),
    [
        ((of("int32", 2), 1.5), "float32"),
        ((of("float16", 2), 1.5), "float16"),
        ((of("float16", 2), of("float32")), "float16"),
        ((of("int32", 2), of("float16")), "float16"),
        ((of("float16", 2), of("bfloat16", 2)), "float32"),
        ((of("uint8", 2), of("int8", 2)), "int16"),
        ((of("bool", 2), 1), "int32"),
        ((of("uint8", 2), 1), "uint8"),
        ((1, 2.0), "float32"),
        ((of("bool"), of("uint8", 2)), "uint8"),
    ],
)
def test_promotion(operands, expected):
    assert result_dtype(*operands) == np.dtype(jnp.dtype(expected))


def test_dims():
    assert normalize_dim(-1, 3) == 2
    assert normalize_dim(-1, 0) == 0
    assert normalize_dims(None, 2) == normalize_dims((), 2) == (0, 1)
    assert normalize_dims(0, 0) == ()
    with pytest.raises(DimError, match=r"expected to be in range of \[-2, 1\], but got 5"):
        normalize_dim(5, 2)
    with pytest.raises(RuntimeError, match="dim 1 appears multiple times"):
        normalize_dims((1, -1), 2)
    assert broadcast_shapes((3, 1), (4,), ()) == (3, 4)


def test_words_of_errors():
    with pytest.raises(
        ShapeMismatchError,
        match=r"The size of tensor a \(3\) must match the size of tensor b \(4\) at non-singleton dimension 1",
    ):
        evaluate("add", [jnp.zeros((2, 3)), jnp.zeros(4), 1])
    with pytest.raises(ShapeMismatchError, match=r"mat1 and mat2 shapes cannot be multiplied \(2x3 and 4x5\)"):
        evaluate("matmul", [jnp.zeros((2, 3)), jnp.zeros((4, 5))])
    with pytest.raises(DtypeError, match=r"mean\(\): could not infer output dtype"):
        evaluate("mean", [jnp.zeros(3, jnp.int32)], [None, False, None])
    with pytest.raises(DimError, match="Dimension out of range"):
        evaluate("sum", [jnp.zeros((2, 3))], [2, False, None])
    with pytest.raises(RuntimeError, match="Integers to negative integer powers are not allowed"):
        evaluate("pow", [jnp.ones(2, jnp.int32), -1])


def test_results_are_never_weakly_typed():
    assert not evaluate("add", [jnp.ones(()), 2, 1]).weak_type
    assert not evaluate("full", [2.5], [(2,), None]).weak_type


def test_rows_work_under_jit_with_traced_scalars():
    result = jax.jit(lambda x, y: evaluate("add", [x, y, 1]))(jnp.zeros(2, jnp.float16), 2.5)
    assert result.dtype == jnp.float16
    result = jax.jit(lambda x, y: evaluate("pow", [x, y]))(jnp.asarray([-2.0, 3.0]), 2.0)
    np.testing.assert_allclose(result, [4, 9], rtol=1e-6)


# Random rows: shapes, dtypes and moments; the numbers are JAX's own

KEY = jax.random.PRNGKey(0)
N = 4000

DRAWS = [
    ("rand", [], [(N,), None, None], 0.5, 1 / 12),
    ("randn", [], [(N,), None, None], 0, 1),
    ("rand_like", [np.zeros(N, np.float32)], [None, None], 0.5, 1 / 12),
    ("randn_like", [np.zeros(N, np.float32)], [None, None], 0, 1),
    ("normal", [np.full(N, 2, np.float32), 3.0], [None], 2, 9),
    ("normal_size", [], [2.0, 3.0, (N,), None, None], 2, 9),
    ("bernoulli", [np.full(N, 0.25, np.float32)], [None, None], 0.25, 3 / 16),
    ("poisson", [np.full(N, 3, np.float32)], [None], 3, 3),
    ("binomial", [np.full(N, 10, np.float32), np.full(N, 0.25, np.float32)], [None], 2.5, 1.875),
    ("uniform", [np.zeros(N, np.float32)], [-1, 1, None], 0, 1 / 3),
    ("normal_fill", [np.zeros(N, np.float32)], [1, 2, None], 1, 4),
    ("bernoulli_fill", [np.zeros(N, np.float32)], [0.25, None], 0.25, 3 / 16),
    ("exponential", [np.zeros(N, np.float32)], [2.0, None], 0.5, 0.25),
    ("geometric", [np.zeros(N, np.float32)], [0.5, None], 2, 2),
    ("dropout", [np.ones(N, np.float32)], [0.5, True], 1, 1),
    ("alpha_dropout", [np.random.default_rng(1).normal(size=N).astype(np.float32)], [0.5, True], 0, 1),
    ("log_normal", [np.zeros(N, np.float32)], [0, 0.25, None], np.exp(1 / 32), np.expm1(1 / 16) * np.exp(1 / 16)),
]


@pytest.mark.few(3)
@pytest.mark.parametrize(("name", "dynamic", "static", "mean", "variance"), DRAWS, ids=[draw[0] for draw in DRAWS])
def test_moments_of_draws(name, dynamic, static, mean, variance):
    dynamic = [jax.device_put(value) if isinstance(value, np.ndarray) else value for value in dynamic]
    drawn = evaluate(name, dynamic, static, KEY)
    assert drawn.shape == (N,) and drawn.dtype == jnp.float32
    assert abs(float(drawn.mean()) - mean) < 6 * np.sqrt(variance / N)
    assert abs(float(drawn.var()) - variance) < 0.15 * variance + 0.02


@pytest.mark.slow
def test_draws_of_integers():
    drawn = evaluate("randint", [], [3, 7, (N,), None, None], KEY)
    assert drawn.dtype == default_int() and set(np.unique(drawn)) == {3, 4, 5, 6}
    assert set(np.unique(evaluate("randint", [], [2, (N,), None, None, None], KEY))) == {0, 1}
    assert sorted(np.asarray(evaluate("randperm", [], [9, None, None], KEY))) == list(range(9))
    assert set(np.unique(evaluate("random", [jnp.zeros(N)], [2, None, None], KEY))) == {0, 1}
    assert evaluate("randint_like", [jnp.zeros(3)], [5, None, None, None], KEY).dtype == jnp.float32
    chosen = evaluate("multinomial", [jnp.asarray([[0.0, 1.0, 1.0]] * 50)], [2, False, None], KEY)
    assert np.all(np.sort(chosen, 1) == [1, 2])
    assert set(np.unique(evaluate("multinomial", [jnp.asarray([0.0, 1.0])], [50, True, None], KEY))) == {1}


def test_dropout_at_rest_is_the_identity():
    x = jnp.arange(6.0).reshape(2, 3)
    for name in ("dropout", "dropout2d", "alpha_dropout", "feature_dropout"):
        np.testing.assert_array_equal(evaluate(name, [x], [0.5, False], KEY), x)
    channels = evaluate("dropout2d", [jnp.ones((4, 8, 3, 3))], [0.5, True], KEY).reshape(32, 9)
    assert set(np.unique(channels)) == {0, 2} and np.all(channels == channels[:, :1])
