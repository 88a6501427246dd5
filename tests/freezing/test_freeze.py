"""`ja.compiler.freeze`: values of unfrozen models, stale weights in every way, what is refused, what is let go."""

from __future__ import annotations

import io
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

import jaxaot as ja
from jaxaot import errors, nn
from tests.freezing.models import (
    MODELS,
    attention,
    convolutions,
    mlp,
    of_linen,
    of_nnx,
    quantized,
    scanned,
    tied,
)  # fmt: skip
from tests.seeds import some


def values(result):
    leaves = jax.tree.leaves(result, is_leaf=lambda x: isinstance(x, ja.Tensor))
    return [np.asarray(x.detach().jax() if isinstance(x, ja.Tensor) else x) for x in leaves]


def assert_close(result, expected, tolerance=1e-5):
    for a, b in zip(values(result), values(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


FIRST = [convolutions, quantized, scanned, of_nnx]
"""The other models hold parts of these, or are in the tests below: those of linen are as those of nnx."""
IN_ORDER = [*FIRST, *(make for make in MODELS if make not in FIRST)]


@pytest.mark.few(1)
@pytest.mark.parametrize("make", some(IN_ORDER, len(FIRST)), ids=lambda make: make.__name__)
def test_values_are_those_of_the_model(make):
    ja.manual_seed(0)
    model, args = make()
    with ja.no_grad():
        expected = ja.compile(model)(*args)
    assert_close(ja.compiler.freeze(model, *args)(*args), expected)


def ways_to_change(model):
    """Returns every way in which a parameter of an MLP changes, by name."""
    first = model[0]  # as it is when the first change comes
    held = ja.randn(20, 16)

    def under_no_grad():
        with ja.no_grad():
            first.weight.mul_(1.5)

    def through_a_view():
        with ja.no_grad():
            first.weight[1:, 2].add_(1)

    def by_an_optimizer():
        optimizer = ja.optim.AdamW(model.parameters(), lr=0.1)
        model(ja.ones(1, 12)).sum().backward()
        optimizer.step()

    def by_a_compiled_step():
        optimizer = ja.optim.SGD(model.parameters(), lr=0.1)

        @ja.compile
        def step(x):
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()

        step(ja.ones(1, 12))

    def by_load_state_dict():
        model.load_state_dict({name: value.detach() * 1.2 for name, value in model.state_dict().items()})

    def by_data():
        first.weight.data = first.weight.data * 0.7

    def by_another_parameter():
        model[2].weight = nn.Parameter(ja.randn(16, 16))

    def by_another_module():
        model[0] = nn.Linear(12, 16)

    def by_init():
        nn.init.normal_(model[4].bias)

    def by_to():
        model.to(ja.float64).to(ja.float32)
        model[4].bias.data = model[4].bias.data + 1

    def by_copy():
        with ja.no_grad():
            model[0].weight.copy_(ja.randn(16, 12))

    def by_set():
        with ja.no_grad():
            model[0].weight.set_(ja.randn(16, 12))

    def through_a_tensor_on_its_storage():
        flat = ja.empty(0).set_(model[0].weight.untyped_storage(), 0, (16 * 12,), (1,))
        flat.add_(1)

    def by_another_tensor_in_its_dict():
        model[0]._parameters["weight"] = nn.Parameter(ja.randn(16, 12))

    def by_out():
        with ja.no_grad():
            ja.mul(model[0].weight, 2, out=model[0].weight)

    def by_resizing():
        with ja.no_grad():
            model[2].weight.resize_(8, 16).resize_(16, 16)[8:].fill_(1)

    def by_freeing_its_storage():
        memory = model[2].weight.untyped_storage()
        memory.resize_(0)
        memory.resize_(16 * 16 * 4)
        with ja.no_grad():
            model[2].weight.copy_(ja.randn(16, 16))

    def through_data_and_state_dict():
        model[2].weight.data.add_(1)
        model.state_dict()["4.weight"].mul_(2)

    def by_a_view_of_a_base():
        model[2].weight = nn.Parameter(held[4:])

    def through_that_base():
        held.mul_(2)

    def by_a_compiled_write_of_an_argument():
        write = ja.compile(lambda w: w.add_(1))  # donated: the old buffer is gone
        with ja.no_grad():
            write(model[0].weight)

    def by_assigning_a_state_dict():
        doubled = {name: value.detach() * 2 for name, value in model.state_dict().items()}
        model.load_state_dict(doubled, assign=True)

    def by_a_vector():
        vector = nn.utils.parameters_to_vector(model.parameters()).detach()
        nn.utils.vector_to_parameters(vector * 1.1, model.parameters())

    def by_a_module_that_is_gone():
        del model[3]

    return [value for name, value in locals().items() if name not in ("model", "first", "held")]


@pytest.mark.slow
@pytest.mark.parametrize("one_in", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_a_changed_parameter_is_noticed(one_in):
    ja.manual_seed(1)
    model, args = mlp()
    frozen = ja.compiler.freeze(model, *args)
    changes = ways_to_change(model)
    assert len(changes) == 24
    for change in changes[::one_in]:
        before = values(frozen(*args))
        change()
        assert_close(frozen(*args), model(*args))
        assert np.abs(values(frozen(*args))[0] - before[0]).max() > 1e-3, change.__name__


@pytest.mark.slow
def test_a_changed_parameter_is_refused():
    model, args = mlp()
    frozen = ja.compiler.freeze(model, *args, stale="refuse")
    frozen(*args)
    model.load_state_dict({name: value + 1 for name, value in model.state_dict().items()})
    with pytest.raises(errors.StaleWeightsError, match=r"`0\.weight`, `0\.bias`, `2\.weight`"):
        frozen(*args)
    with pytest.raises(errors.StaleWeightsError, match=r"`0\.weight`"):  # another program does not get around it
        frozen(ja.randn(9, 12))


@pytest.mark.slow
def test_a_changed_statistic_is_folded_anew():
    ja.manual_seed(0)
    model, args = convolutions()
    frozen = ja.compiler.freeze(model, *args)
    model.train()
    with ja.no_grad():
        ja.compile(model)(ja.randn(8, 3, 4, 4) * 5)  # eval, train, eval
        model.eval()
        assert_close(frozen(*args), ja.compile(model)(*args))


@pytest.mark.slow
def test_variables_of_nnx_and_arrays_of_linen_are_noticed():
    model, args = of_nnx()
    frozen = ja.compiler.freeze(model, *args)
    refusing = ja.compiler.freeze(model, *args, stale="refuse")
    model.head.kernel[...] = model.head.kernel[...] * 2
    assert_close(frozen(*args), model(*args))
    nnx.update(model, jax.tree.map(lambda value: value * 1.1, nnx.state(model, nnx.Param)))
    assert_close(frozen(*args), model(*args))
    model.norm.mean[...] += 1  # a statistic that is folded
    assert_close(frozen(*args), model(*args))
    model.head = nnx.Linear(8, 4, rngs=nnx.Rngs(1))
    assert_close(frozen(*args), model(*args))
    with pytest.raises(errors.StaleWeightsError, match=r"head\.kernel"):
        refusing(*args)

    params = {"w": jnp.ones((3, 4)), "b": jnp.zeros(3)}
    apply = lambda params, x: x @ params["w"].T + params["b"]
    x = jnp.arange(8.0).reshape(2, 4)
    frozen = ja.compiler.freeze(apply, params, x, argnums=0)
    assert_close(frozen(params, x), apply(params, x))
    assert frozen.parameter_bytes == 60
    other = jax.tree.map(lambda p: p + 1, params)
    assert_close(frozen(other, x), apply(other, x))
    assert_close(frozen(params, x), apply(params, x))


def test_arrays_of_numpy_may_change_in_place():
    w, x = np.ones((3, 4), np.float32), jnp.ones((2, 4))
    frozen = ja.compiler.freeze(lambda w, x: x @ w.T, w, x, argnums=0)
    w[:] = 2
    assert_close(frozen(w, x), x @ w.T)
    w[0] = 5
    assert_close(frozen(w, x), x @ w.T)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.inner = nn.Embedding(7, 8), nn.Linear(8, 8)
        self.register_buffer("cache", ja.zeros(6, 8))
        self.register_buffer("length", ja.zeros((), dtype=ja.int32))

    def forward(self, token):
        x = self.inner(self.embed(token))
        self.cache[self.length] = x
        self.length += 1
        return (self.cache @ self.embed.weight.T).sum(0)


@pytest.mark.slow
def test_caches_are_written_in_place_and_reused():
    ja.manual_seed(0)
    plain, model = Decoder(), Decoder()
    model.load_state_dict(plain.state_dict())
    decode = ja.compiler.freeze(model, ja.tensor(0))
    assert int(model.length) == 0, "to pack carries nothing out"
    cache = model.cache
    for token in (3, 1, 5):
        with ja.no_grad():
            expected = plain(ja.tensor(token))
        assert_close(decode(ja.tensor(token)), expected)
    assert int(model.length) == 3 and model.cache is cache
    assert_close(model.cache, plain.cache)
    with ja.no_grad():
        cache.zero_()
        plain.cache.zero_()
        assert_close(decode(ja.tensor(2)), plain(ja.tensor(2)))


@pytest.mark.slow
def test_autocast_is_folded():
    ja.manual_seed(0)
    model, args = mlp()
    frozen = ja.compiler.freeze(model, *args)
    with ja.autocast("cpu", dtype=ja.bfloat16), ja.no_grad():
        expected = model(*args)
        result = frozen(*args)
    assert result.dtype == expected.dtype == ja.bfloat16
    assert_close(result.float(), expected.float(), 2e-2)
    assert_close(frozen(*args), model(*args))
    assert frozen.cache_info().misses == 2


@pytest.mark.slow
def test_halves_are_kept_as_float32_on_cpu(capsys):
    ja.manual_seed(0)
    model, (x,) = mlp()
    model, x = model.to(ja.bfloat16), x[:1].to(ja.bfloat16)  # a single row, for which no XLA has kernels
    frozen = ja.compiler.freeze(model, x)
    assert_close(frozen(x).float(), model(x).float(), 2e-2)
    assert frozen.packed_bytes > 1.5 * frozen.parameter_bytes
    frozen.explain(x)
    assert "f32[16,12], 768 B: made of 0.weight" in capsys.readouterr().out.replace("f32[12,16]", "f32[16,12]")


@pytest.mark.slow
def test_what_takes_more_bytes_is_left_to_the_program():
    model, args = quantized()
    frozen = ja.compiler.freeze(model, *args)
    assert frozen.packed_bytes == frozen.parameter_bytes == 24 * 12 + 24 * 4
    model, args = tied()
    assert ja.compiler.freeze(model, *args).packed_bytes <= 1.05 * sum(p.nbytes for p in model.parameters())


@pytest.mark.slow
def test_programs_share_what_they_pack():
    model, (x,) = attention()
    frozen = ja.compiler.freeze(model, x)
    before = frozen.packed_bytes
    longer = ja.randn(2, 9, 16)
    with ja.no_grad():
        assert_close(frozen(longer), ja.compile(model)(longer))
    assert frozen.packed_bytes == before


def test_products_of_one_value_become_one():
    model, (x,) = attention()
    frozen = ja.compiler.freeze(model, x)
    (program,) = frozen._compiled.programs
    run = program.executables["forward"].inner.jaxpr
    assert sum(eqn.primitive.name == "dot_general" for eqn in run.jaxpr.eqns) == 2 + 2  # of weights, and attention's


@pytest.mark.slow
def test_gradients_are_refused():
    model, (x,) = mlp()
    frozen = ja.compiler.freeze(model, x)
    with pytest.raises(errors.FrozenGradientError, match=r"\[0\] of a frozen function requires grad"):
        frozen(x.requires_grad_())
    with ja.no_grad():
        assert not frozen(x).requires_grad
    fn, (x,) = of_linen()
    frozen = ja.compiler.freeze(fn, x)
    for transform in (lambda f: jax.grad(lambda x: f(x).sum()), jax.jit, jax.vmap):
        with pytest.raises(errors.FrozenGradientError, match="Call the function that was frozen there"):
            transform(frozen)(x)

    def differentiates(x):
        with ja.enable_grad():
            w = model[0].weight
            return (x @ w.T).sum() * w

    with pytest.raises(errors.FrozenGradientError, match="turns gradients on inside"):
        ja.compiler.freeze(differentiates, ja.ones(2, 12))


def test_wrong_options_are_refused():
    model, (x,) = mlp()
    with pytest.raises(errors.UsageError, match="only example arguments say"):
        ja.compiler.freeze(model, discard=True)
    with pytest.raises(errors.UsageError, match='"repack" or "refuse"'):
        ja.compiler.freeze(model, x, stale="ignore")
    with pytest.raises(errors.UsageError, match="has 1 positional arguments"):
        ja.compiler.freeze(lambda x: x, x, argnums=3)
    with pytest.raises(errors.TensorTypeError, match="takes a function or a module"):
        ja.compiler.freeze(3)


@pytest.mark.slow
def test_discarded_parameters_name_themselves():
    ja.manual_seed(0)
    model, (x,) = mlp()
    expected, state = model(x), {name: value.detach().clone() for name, value in model.state_dict().items()}
    frozen = ja.compiler.freeze(model, x, discard=True)
    assert_close(frozen(x), expected)
    weight = model[2].weight
    reads = [
        lambda: model(x), lambda: weight + 1, lambda: weight.sum(), lambda: weight.detach().numpy(), weight.tolist,
        lambda: weight.jax(), lambda: ja.compile(model)(x), lambda: np.asarray(weight.detach()),
        lambda: weight.detach().clone(), lambda: weight[0, 0].item(), lambda: ja.no_grad(weight.mul_)(2),
    ]  # fmt: skip
    for read in reads:
        with pytest.raises(errors.DiscardedParameterError, match=r"`\d\.(weight|bias)` of the module `Sequential`"):
            read()
    assert "`ja.compiler.freeze` let them go" in repr(weight)
    assert_close(frozen(ja.cat([x, x]))[:4], expected)  # another program of the same packed values
    model.load_state_dict({name: value * 2 for name, value in state.items()})
    assert_close(frozen(x), model(x))


def test_discarded_parameters_are_let_go():
    model, (x,) = mlp()
    arrays = [jax.numpy.zeros(()), *(p._storage.array for p in model.parameters() if p.ndim == 2)]
    pointers = [a.unsafe_buffer_pointer() for a in arrays]
    del arrays
    frozen = ja.compiler.freeze(model, x, discard=True)
    held = {a.unsafe_buffer_pointer() for a in jax.live_arrays() if a.shape in ((16, 12), (16, 16), (3, 16))}
    assert not held & set(pointers)
    assert_close(frozen(x), frozen(x))


def test_several_threads_may_call_while_parameters_change():
    ja.manual_seed(0)
    model, (x,) = mlp()
    frozen = ja.compiler.freeze(model, x)
    wrong = []

    def call():
        for _ in range(20):
            result = values(frozen(x))[0]
            if not any(np.allclose(result, e, atol=1e-4) for e in allowed):
                wrong.append(result)

    allowed = [values(model(x))[0]]
    with ja.no_grad():
        model[4].bias.add_(1)
        allowed.append(values(model(x))[0])
        model[4].bias.sub_(1)
    threads = [threading.Thread(target=call) for _ in range(3)]
    [t.start() for t in threads]
    with ja.no_grad():
        for _ in range(5):
            model[4].bias.add_(1)
            model[4].bias.sub_(1)
    [t.join() for t in threads]
    assert not wrong


def test_a_frozen_function_inside_a_compiled_one_is_part_of_its_graph():
    model, (x,) = mlp()
    frozen = ja.compiler.freeze(model, x)
    assert_close(ja.compile(lambda x: frozen(x) * 2)(x), model(x) * 2)


def test_functions_of_tensors_are_frozen():
    w = ja.randn(5, 12)
    frozen = ja.compiler.freeze(lambda x: x @ w.T)
    x = ja.randn(2, 12)
    assert_close(frozen(x), x @ w.T)
    w.fill_(1)
    assert_close(frozen(x), x @ w.T)
    assert repr(frozen).startswith("<ja.compiler.freeze of ")


@pytest.mark.slow
def test_a_state_of_nnx_passed_as_an_argument():
    model, (x,) = of_nnx()
    frozen = ja.compiler.freeze(lambda model, x: model(x), model, x)
    assert_close(frozen(model, x), model(x))
    other = nnx.clone(model)
    other.head.bias[...] = other.head.bias[...] + 1
    assert_close(frozen(other, x), other(x))


def test_a_saved_module_of_frozen_weights_still_saves():
    model, (x,) = mlp()
    ja.compiler.freeze(model, x)(x)
    state = model.state_dict()
    assert set(state) == {"0.weight", "0.bias", "2.weight", "2.bias", "4.weight", "4.bias"}
    assert io.StringIO(repr(state)).read()
