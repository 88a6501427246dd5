"""Convolutions as products, as sums, in tiles, and by Eigen: the same values, faster."""

import random
from collections import Counter

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxaot as ja
from jaxaot._jax import jaxpr_as_fun
from jaxaot.backend.cpu import options as options_module
from jaxaot.backend.cpu.analysis.convolution_windows import padding_config
from jaxaot.backend.cpu.convolutions.multiply_convolutions import multiply_convolutions
from jaxaot.backend.cpu.convolutions.pad_images import pad_images
from jaxaot.backend.cpu.convolutions.split_groups import split_groups
from jaxaot.backend.cpu.convolutions.sum_depthwise import sum_depthwise
from jaxaot.backend.cpu.convolutions.unfold_volumes import unfold_volumes
from jaxaot.backend.cpu.machine import machine
from jaxaot.backend.cpu.options import keeping_barriers, with_eigen_convolutions
from jaxaot.backend.cpu.pipeline import EIGEN_CONVOLUTIONS
from jaxaot.ir.check import check_graph
from jaxaot.ir.rewrite import inline
from jaxaot.lower.executable import Executable
from jaxaot.passes.pipeline import default_passes, run_passes
from tests.rewritten import assert_rewritten
from tests.seeds import seeds, some

BY_YNN = "xla_cpu_experimental_ynn_fusion_type"
NHWC = ("NHWC", "HWIO", "NHWC")


def normal(seed, *shape, dtype=jnp.float32):
    return jnp.asarray(np.random.default_rng(seed).normal(size=shape), dtype)


def convolve(x, k, strides=(1, 1), padding="VALID", numbers=NHWC, **rest):
    return lax.conv_general_dilated(x, k, strides, padding, dimension_numbers=numbers, **rest)


def graph_of(fn, *args):
    return inline(jax.make_jaxpr(fn)(*args), also_custom=True)


def names(closed):
    return Counter(eqn.primitive.name for eqn in closed.jaxpr.eqns)


def convolutions(closed):
    return [eqn for eqn in closed.jaxpr.eqns if eqn.primitive.name == "conv_general_dilated"]


def n_left(rewrite, fn, *args, rtol=1e-5):
    """Returns how many convolutions a pass leaves, having checked that it changes no value and no type."""
    _, passed = assert_rewritten(rewrite, fn, *args, rtol=rtol)
    return names(passed)["conv_general_dilated"]


def with_gradients(fn):
    return lambda x, k: jax.value_and_grad(lambda x, k: (fn(x, k) ** 2).sum(), (0, 1))(x, k)


def random_convolution(seed):
    """Returns a convolution with any layouts, strides, paddings and dilations, and its operands."""
    rng = random.Random(seed)
    n_axes = rng.choice((1, 2, 2, 3))
    groups, features = rng.choice((1, 1, 2, 4)), 4
    results = rng.choice((4, 4, 8)) if groups > 1 else rng.choice((1, 2, 5))
    window = [rng.choice((1, 1, 2, 3)) for _ in range(n_axes)]
    size = [rng.randint(4, 7) for _ in range(n_axes)]
    strides, holes, dilation = ([rng.choice((1, 1, 2)) for _ in range(n_axes)] for _ in range(3))
    padding = [(rng.choice((-1, 0, 0, 1, 2)), rng.choice((-1, 0, 0, 1))) for _ in range(n_axes)]
    match rng.choice(("any", "any", "whole", "apart")):
        case "whole":
            window, padding, holes, dilation = list(size), [(0, 0)] * n_axes, [1] * n_axes, [1] * n_axes
        case "apart":
            strides, dilation, holes, padding = [1] * n_axes, [1] * n_axes, window, [(w - 1, w - 1) for w in window]
    space = "DHW"[-n_axes:]
    numbers = tuple("".join(rng.sample(letters + space, n_axes + 2)) for letters in ("NC", "OI", "NC"))
    sizes = {"N": 2, "C": features, "O": results, "I": features // groups}
    x = normal(seed, *(sizes.get(c) or size[space.index(c)] for c in numbers[0]))
    k = normal(seed + 1, *(sizes.get(c) or window[space.index(c)] for c in numbers[1]))

    def fn(x, k):
        return lax.conv_general_dilated(
            x, k, strides, padding, holes, dilation, numbers, feature_group_count=groups
        )  # fmt: skip

    return fn, (x, k)


def fitting_convolution(seed):
    """Returns the first random convolution from a seed on whose windows fit and that has gradients."""
    for attempt in range(100):
        fn, args = random_convolution(1000 * seed + attempt)
        try:
            if 0 not in jax.eval_shape(fn, *args).shape:
                graph_of(with_gradients(fn), *args)
                return fn, args
        except (TypeError, ValueError):
            pass  # no window fits, or JAX has no gradient for this padding
    raise AssertionError("none of 100 convolutions fits")


@pytest.mark.parametrize("seed", seeds(12, 1))
def test_random_convolutions_keep_their_values_and_gradients(seed):
    fn, args = fitting_convolution(seed)
    n_before = len(convolutions(graph_of(with_gradients(fn), *args)))
    for rewrite in (multiply_convolutions, sum_depthwise, unfold_volumes):
        assert n_left(rewrite, with_gradients(fn), *args, rtol=1e-4) <= n_before
    assert n_left(pad_images, with_gradients(fn), *args, rtol=1e-4) == n_before
    assert n_left(split_groups, with_gradients(fn), *args, rtol=1e-4) >= n_before


@pytest.mark.slow
def test_layers_of_one_by_one_and_their_gradients_are_products():
    x, k = normal(0, 2, 6, 6, 3), normal(1, 1, 1, 3, 4)
    assert n_left(multiply_convolutions, with_gradients(convolve), x, k) == 0
    assert n_left(multiply_convolutions, with_gradients(lambda x, k: convolve(x, k, (2, 2))), x, k) == 0
    torch_like = lambda x, k: convolve(x, k, numbers=("NCHW", "OIHW", "NCHW"))
    assert n_left(multiply_convolutions, with_gradients(torch_like), normal(0, 2, 3, 6, 6), normal(1, 4, 3, 1, 1)) == 0


def test_transposed_convolutions_without_overlap_are_products():
    up = lambda x, k: lax.conv_transpose(x, k, (2, 3), "VALID", dimension_numbers=NHWC)
    assert n_left(multiply_convolutions, up, normal(0, 2, 4, 5, 3), normal(1, 2, 3, 3, 4)) == 0
    overlapping = lambda x, k: lax.conv_transpose(x, k, (2, 2), "VALID", dimension_numbers=NHWC)
    assert n_left(multiply_convolutions, overlapping, normal(0, 2, 4, 5, 3), normal(1, 3, 3, 3, 4)) == 1


def test_other_convolutions_stay():
    x, k = normal(0, 2, 6, 6, 4), normal(1, 3, 3, 4, 4)
    assert n_left(multiply_convolutions, convolve, x, k) == n_left(sum_depthwise, convolve, x, k) == 1
    grouped = lambda x, k: convolve(x, k, feature_group_count=2)
    assert n_left(multiply_convolutions, grouped, x, normal(1, 1, 1, 2, 4)) == 1
    assert n_left(sum_depthwise, grouped, x, normal(1, 1, 1, 2, 4)) == 1
    padded = lambda x, k: convolve(x, k, padding="SAME" if k.shape[0] > 1 else ((1, 1), (1, 1)))
    assert n_left(multiply_convolutions, padded, x, normal(1, 1, 1, 4, 4)) == 1  # zeros meet what may be infinite
    wide = normal(1, machine().max_depthwise_taps + 1, 1, 4)
    along = lambda x, k: lax.conv_general_dilated(
        x, k, (1,), "VALID", dimension_numbers=("NWC", "WIO", "NWC"), feature_group_count=4
    )
    assert n_left(sum_depthwise, along, normal(0, 1, 100, 4), wide) == 1


def without_large_kernels(fn, x, k):
    """Returns a graph after `pad_images`, in which no kernel is larger than its image, nor is one in what XLA makes."""
    closed = graph_of(fn, x, k)
    assert n_left(pad_images, fn, x, k) == len(convolutions(closed))
    passed = pad_images(closed)
    for eqn in convolutions(passed):
        spec, config = eqn.params["dimension_numbers"], padding_config(eqn.params)
        sizes, windows = ([v.aval.shape[i] for i in s[2:]] for v, s in zip(eqn.invars, spec[:2], strict=True))
        around = [low + high + (n - 1) * hole for n, (low, high, hole) in zip(sizes, config, strict=True)]
        assert np.prod(windows) <= np.prod(sizes) or not any(around)
    text = jax.jit(jaxpr_as_fun(passed), compiler_options=keeping_barriers()).lower(x, k).compile().as_text()
    assert "rhs_reversal" not in text
    assert "rhs_reversal" in jax.jit(jaxpr_as_fun(closed)).lower(x, k).compile().as_text()
    return passed


def test_kernels_larger_than_their_image_meet_a_padded_one():
    fn = lambda x, k: convolve(x, k, padding=((1, 1), (1, 1)))
    passed = without_large_kernels(fn, normal(0, 2, 2, 2, 3), normal(1, 3, 3, 3, 40))
    assert names(passed)["optimization_barrier"] == 1


@pytest.mark.slow
def test_gradients_of_transposed_convolutions_hold_no_image_with_holes():
    up = lambda x, k: lax.conv_transpose(x, k, (2, 2), "SAME", dimension_numbers=NHWC)
    passed = without_large_kernels(with_gradients(up), normal(0, 2, 6, 6, 8), normal(1, 3, 3, 8, 3))
    assert not {"optimization_barrier", "pad"} & set(names(passed))
    assert max(eqn.outvars[0].aval.size for eqn in passed.jaxpr.eqns) == 2 * 12 * 12 * 3  # the result


def test_the_gradient_of_what_takes_a_whole_image_is_a_product():
    fn = with_gradients(convolve)
    assert n_left(multiply_convolutions, fn, normal(0, 2, 5, 6, 3), normal(1, 5, 6, 3, 4)) == 0


def test_grouped_convolutions_and_their_gradients_are_split():
    x, k = normal(0, 2, 6, 6, 8), normal(1, 3, 3, 2, 12)
    closed = graph_of(with_gradients(lambda x, k: convolve(x, k, padding="SAME", feature_group_count=4)), x, k)
    counts = [max(e.params["feature_group_count"], e.params["batch_group_count"]) for e in convolutions(closed)]
    assert counts == [4, 4, 4]
    n_left(split_groups, jaxpr_as_fun(closed), x, k)
    assert [e.params["batch_group_count"] for e in convolutions(split_groups(closed))] == [1] * 12
    many = lambda x, k: convolve(x, k, feature_group_count=x.shape[-1])
    assert (
        n_left(
            split_groups,
            many,
            normal(0, 1, 4, 4, machine().max_groups + 1),
            normal(1, 2, 2, 1, machine().max_groups + 1),
        )
        == 1
    )


@pytest.mark.slow
@pytest.mark.parametrize("dtype", some([jnp.float32, jnp.bfloat16], 1))
def test_depthwise_convolutions_and_their_gradients_are_sums(dtype):
    x, k = normal(0, 2, 8, 8, 6, dtype=dtype), normal(1, 3, 3, 1, 6, dtype=dtype)
    fn = lambda x, k: convolve(x, k, (1, 1), "SAME", feature_group_count=6)
    assert n_left(sum_depthwise, with_gradients(fn), x, k, rtol=1e-5 if dtype == jnp.float32 else 0.05) == 0


@pytest.mark.slow
@pytest.mark.parametrize("poison", some([np.nan, np.inf], 1))
def test_nan_and_infinities_propagate(poison):
    x, k = normal(0, 2, 6, 6, 4).at[1, 2, 3, 1].set(poison), normal(1, 3, 3, 1, 4)
    depthwise = lambda x, k: convolve(x, k, padding="SAME", feature_group_count=4)
    point = lambda x, k: convolve(x, k[:1, :1, :, :].reshape(1, 1, 4, 1))
    for rewrite, fn in ((sum_depthwise, depthwise), (multiply_convolutions, point)):
        closed = graph_of(fn, x, k)
        (got,), (want,) = (jaxpr_as_fun(graph)(x, k) for graph in (rewrite(closed), closed))
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
        assert not bool(np.isfinite(got).all())


VOLUMES = {
    "plain": {},
    "strides": {"window_strides": (2, 1, 2)},
    "dilated": {"rhs_dilation": (2, 2, 1)},
    "holes": {"lhs_dilation": (2, 1, 3)},
    "features first": {"dimension_numbers": ("NCDHW", "OIDHW", "NCDHW")},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", some(VOLUMES, 1))
def test_convolutions_of_volumes_are_convolutions_of_images(name):
    options = {"window_strides": (1, 1, 1), "dimension_numbers": ("NDHWC", "DHWIO", "NDHWC"), **VOLUMES[name]}
    fn = lambda x, k: lax.conv_general_dilated(x, k, padding=((1, 1), (2, 0), (1, 1)), **options)
    x, k = normal(0, 2, 7, 6, 5, 3), normal(1, 3, 3, 2, 3, 4)
    if name == "features first":
        x, k = jnp.moveaxis(x, -1, 1), k.transpose(4, 3, 0, 1, 2)
    n_left(unfold_volumes, with_gradients(fn), x, k)
    passed = unfold_volumes(graph_of(with_gradients(fn), x, k))
    assert [eqn.outvars[0].aval.ndim for eqn in convolutions(passed)] == [4, 4, 4]
    large = lambda x, k: lax.conv_general_dilated(x, k, (1, 1, 1), "SAME")
    assert (
        convolutions(unfold_volumes(graph_of(large, jnp.ones((1, 1, 9, 9, 9)), jnp.ones((1, 1, 9, 2, 2)))))[0]
        .outvars[0]
        .aval.ndim
        == 5
    )


@pytest.fixture
def ynn_on_one_core(using_machine):
    """XLA computes convolutions as before jax 0.11."""
    using_machine(eigen_flops=100_000_000)


def test_eigen_computes_convolutions_where_ynn_takes_one_core():
    is_older = jax.__version_info__ < (0, 11)
    x, k = normal(0, 16, 32, 32, 32), normal(1, 3, 3, 32, 32)
    executable = Executable(graph_of(lambda x, k: convolve(x, k, padding="SAME"), x, k))
    assert (executable.tuned.n_by_eigen == 1) is is_older


@pytest.mark.usefixtures("ynn_on_one_core")
def test_convolutions_are_computed_by_eigen():
    closed = graph_of(lambda x, k: convolve(x, k, padding="SAME"), normal(0, 16, 32, 32, 32), normal(1, 3, 3, 32, 32))
    executable = Executable(closed)
    assert executable.tuned.n_by_eigen == 1 and "eigen_convolutions: 1 on all cores" in executable.explain()
    assert BY_YNN in (executable.compiler_options or {}) and "ynn" not in executable.as_text(optimized=True)
    with ja.config(passes=tuple(name for name in default_passes() if name != EIGEN_CONVOLUTIONS)):
        other = Executable(closed)
        assert not other.tuned.n_by_eigen and BY_YNN not in (other.compiler_options or {})
    matrices = Executable(graph_of(lambda a: a @ a, jnp.ones((256, 256))))
    assert not matrices.tuned.n_by_eigen and BY_YNN not in (matrices.compiler_options or {})


@pytest.mark.usefixtures("ynn_on_one_core")
def test_a_jitted_function_computes_large_convolutions_by_eigen(monkeypatch):
    asked = []
    monkeypatch.setattr(
        "jaxaot.backend.cpu.tune.with_eigen_convolutions", lambda options: asked.append(options) or options
    )
    step = ja.jit(lambda x, k: {"y": convolve(x, k, padding="SAME")}, donate_argnums=0)
    x, k = normal(0, 16, 32, 32, 32), normal(1, 3, 3, 32, 32)
    want = convolve(x, k, padding="SAME")
    np.testing.assert_allclose(step(x, k)["y"], want, rtol=1e-4, atol=1e-4)
    assert len(asked) == 1 and x.is_deleted()
    step(normal(0, 4, 8, 8, 32), k)
    assert len(asked) == 1  # small ones are faster by YNN


@pytest.mark.usefixtures("ynn_on_one_core")
def test_a_lowered_function_computes_large_convolutions_by_eigen():
    step = ja.jit(lambda x, k: convolve(x, k, padding="SAME"))
    x, k = normal(0, 16, 32, 32, 32), normal(1, 3, 3, 32, 32)
    for compiled in (step.lower(x, k).compile(), step.trace(x, k).lower().compile()):
        assert "ynn" not in compiled.as_text()
        np.testing.assert_allclose(compiled(x, k), step(x, k), rtol=1e-5)
    assert "ynn" in step.lower(normal(0, 4, 8, 8, 32), k).compile().as_text()


@pytest.mark.usefixtures("ynn_on_one_core")
def test_a_convolution_beside_effects(capfd):
    def fn(x, k):
        jax.debug.print("{}", x[0, 0, 0, 0], ordered=True)
        return convolve(x, k, padding="SAME")

    x, k = normal(0, 16, 32, 32, 32).at[0, 0, 0, 0].set(7.5), normal(1, 3, 3, 32, 32)
    np.testing.assert_allclose(ja.jit(fn)(x, k), convolve(x, k, padding="SAME"), rtol=1e-4, atol=1e-4)
    jax.effects_barrier()
    assert "7.5" in capfd.readouterr().out


def test_what_the_user_says_of_ynn_stays(monkeypatch):
    assert with_eigen_convolutions({BY_YNN: "LIBRARY_FUSION_TYPE_DOT"}) == {BY_YNN: "LIBRARY_FUSION_TYPE_DOT"}
    assert set(with_eigen_convolutions({"xla_cpu_enable_fast_math": True})) == {"xla_cpu_enable_fast_math", BY_YNN}
    with monkeypatch.context() as patch:
        patch.setenv("XLA_FLAGS", f"--{BY_YNN}=LIBRARY_FUSION_TYPE_DOT")
        assert with_eigen_convolutions(None) == {}
    monkeypatch.setattr(options_module, "_is_known", lambda name, value: False)
    assert with_eigen_convolutions(None) == {}
    monkeypatch.undo()
    assert not options_module._is_known("xla_cpu_no_such_option", 1)


def test_convolutions_in_bodies_of_loops(everything_is_large):
    k = normal(1, 1, 1, 4, 4) * 0.3

    def fn(x):
        return lax.scan(lambda x, _: (convolve(x, k), None), x, None, length=3)[0]

    executable = Executable(graph_of(fn, normal(0, 2, 6, 6, 4)))
    (scan,) = (eqn for eqn in executable.tuned.jaxpr.jaxpr.eqns if eqn.primitive.name == "scan")
    assert names(scan.params["jaxpr"])["dot_general"] == 1 and not executable.tuned.n_by_eigen
    check_graph(run_passes(executable.tuned.jaxpr, ["lowered_cse"]))
