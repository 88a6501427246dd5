"""The demo's model and optimizer against the same math in plain JAX."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxaot.api import compile
from jaxaot.autograd.modes import no_grad
from jaxaot.demo import plain
from jaxaot.demo.adamw import AdamW
from jaxaot.demo.decode import Decoder
from jaxaot.demo.model import GPT, GPTConfig
from jaxaot.tensor.create import tensor

CONFIG = GPTConfig(vocabulary=11, context=8, width=16, n_layers=2, n_heads=2, dropout=0.0)


def batch(seed=0):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, CONFIG.vocabulary, (3, CONFIG.context), dtype=np.int32) for _ in range(2)]


def arrays_of(model):
    return {name: jnp.array(p.detach().numpy()) for name, p in model.named_parameters()}


@pytest.mark.parametrize("is_compiled", [False, True])
def test_gradients_are_those_of_plain_jax(is_compiled):
    model = GPT(CONFIG)
    x, y = batch()
    fn = compile(model.loss) if is_compiled else model.loss
    loss = fn(tensor(x), tensor(y))
    loss.backward()
    wanted, grads = jax.value_and_grad(plain.loss)(arrays_of(model), x, y, jax.random.key(0), CONFIG)
    np.testing.assert_allclose(loss.item(), wanted, rtol=1e-5)
    for name, parameter in model.named_parameters():
        np.testing.assert_allclose(parameter.grad.numpy(), grads[name], rtol=2e-4, atol=2e-6, err_msg=name)


@pytest.mark.parametrize("is_compiled", [False, True])
def test_training_steps_are_those_of_plain_jax(is_compiled):
    model = GPT(CONFIG)
    optimizer = AdamW(model.parameters())
    params = arrays_of(model)
    state = plain.initial_state(params)
    step = plain.make_step(CONFIG)
    loss_fn, move = (compile(model.loss), compile(optimizer.step)) if is_compiled else (model.loss, optimizer.step)
    pointers = [p.untyped_storage() for p in model.parameters()]
    for i in range(3):
        x, y = batch(i)
        rate = 1e-3 * (i + 1)
        loss = loss_fn(tensor(x), tensor(y))
        loss.backward()
        move(rate)
        optimizer.zero_grad()
        params, state, wanted = step(params, state, x, y, jax.random.key(0), rate)
        np.testing.assert_allclose(loss.item(), wanted, rtol=1e-4)
    for name, parameter in model.named_parameters():
        # the first moves of AdamW are signs of the gradient: where it is all but zero, rounding decides
        np.testing.assert_allclose(parameter.detach().numpy(), params[name], rtol=1e-3, atol=1e-3, err_msg=name)
    assert all(p.untyped_storage() is storage for p, storage in zip(model.parameters(), pointers, strict=True))
    if is_compiled:
        assert loss_fn.cache_info().currsize == move.cache_info().currsize == 1


def test_a_step_of_the_optimizer_is_the_formula():
    rng = np.random.default_rng(0)
    values, grads = rng.standard_normal((2, 4, 3)).astype(np.float32)
    parameter = tensor(values, requires_grad=True)
    optimizer = AdamW([parameter], betas=(0.9, 0.99), eps=1e-8, weight_decay=0.1, max_norm=1.0)
    mean = square = np.zeros_like(values)
    for i in range(1, 4):
        parameter.grad = tensor(grads)
        norm = optimizer.step(0.01)
        np.testing.assert_allclose(norm.item(), np.linalg.norm(grads), rtol=1e-5)
        clipped = grads / max(np.linalg.norm(grads), 1.0)
        np.testing.assert_allclose(parameter.grad.numpy(), clipped, rtol=1e-5)  # clipped in place
        mean, square = 0.9 * mean + 0.1 * clipped, 0.99 * square + 0.01 * clipped**2
        move = mean / (1 - 0.9**i) / (np.sqrt(square / (1 - 0.99**i)) + 1e-8)
        values = values * (1 - 0.01 * 0.1) - 0.01 * move
        np.testing.assert_allclose(parameter.detach().numpy(), values, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("is_compiled", [False, True])
def test_decoding_through_the_cache_gives_the_scores_of_the_whole_text(is_compiled):
    model = GPT(CONFIG)
    model.eval()
    x = batch()[0][:1]
    with no_grad():
        wanted = model(tensor(x)).numpy()[0]
    decoder = Decoder(model)
    decode = compile(decoder.decode) if is_compiled else decoder.decode
    n_prompt = 3
    found = [decoder.prefill(tensor(x[:, :n_prompt])).numpy()[0]]
    for i in range(n_prompt, CONFIG.context):
        found.append(decode(tensor(x[:, i : i + 1]), tensor([i])).numpy()[0])
    np.testing.assert_allclose(found, wanted[n_prompt - 1 :], rtol=1e-4, atol=1e-5)
    if is_compiled:
        assert decode.cache_info().currsize == 1


def test_dropout_draws_from_the_default_generator_and_is_off_in_eval():
    model = GPT(GPTConfig(vocabulary=11, context=8, width=16, n_layers=1, n_heads=2, dropout=0.5))
    x = tensor(batch()[0])
    assert not np.array_equal(model(x).detach().numpy(), model(x).detach().numpy())
    model.eval()
    assert np.array_equal(model(x).detach().numpy(), model(x).detach().numpy())
