"""Tiny models of transformers, timm, torchvision and diffusers on JAX, of random weights, beside PyTorch."""

import copy
import importlib.util
import pickle

import jax
import numpy as np
import pytest

import jaxaot as ja
from tests.cases import each

torch = pytest.importorskip("torch")
from tests.bridge.zoo import LIBRARIES, ZOO  # noqa: E402

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(not all(map(importlib.util.find_spec, LIBRARIES)), reason=f"needs {', '.join(LIBRARIES)}"),
]
IN_FLOAT32 = ("mixtral", "qwen3_moe")
"""PyTorch's grouped products on the CPU take no float64."""
DRAWN = [pytest.param(name, marks=pytest.mark.slow) for name in ZOO]
PURE = ["gpt2", *DRAWN[1:]]
"""By default GPT-2 alone, forward and backward, traced once: compiled steps of a model cost 20 s."""
BREAKING = ("detr",)
"""Parts of their steps run eagerly: `if` on values."""
HOOKED = ("mixtral", "segformer")
"""Their first forward registers hooks, which no program can: it is an eager one."""


@pytest.fixture(autouse=True)
def wide():
    with jax.enable_x64(True):
        torch.manual_seed(0)
        yield


def close(found, expected, tolerance):
    """Compares by the largest value: transformers computes losses in float32, whatever dtype a model has."""
    found = ja.torch.to_torch(found).detach()
    assert found.dtype is expected.dtype and found.shape == expected.shape
    largest = max(1.0, float(expected.detach().double().abs().max())) if expected.numel() else 1.0
    assert torch.allclose(found.double(), expected.detach().double(), rtol=tolerance, atol=tolerance * largest)


def loss_of(out):
    if getattr(out, "loss", None) is not None:
        return out.loss
    while not isinstance(out, (torch.Tensor, jax.Array)):
        out = next(iter(out.values())) if hasattr(out, "values") else out[0]
    return (out * out).mean()


def pair(name, dtype=None):
    """Returns a model on JAX and its inputs, and both of PyTorch."""
    dtype = dtype or (torch.float32 if name in IN_FLOAT32 else torch.float64)
    module, inputs = ZOO[name]()
    is_real = lambda x: isinstance(x, torch.Tensor) and x.is_floating_point()
    module, inputs = module.to(dtype), {key: x.to(dtype) if is_real(x) else x for key, x in inputs.items()}
    there = ja.torch.to_jax({key: x for key, x in inputs.items() if key != "lengths"})
    return (ja.torch.move(copy.deepcopy(module)), {**inputs, **there}), (module, inputs), dtype


def step(model, optimizer, batch):
    optimizer.zero_grad()
    loss = loss_of(model(**batch))
    loss.backward()
    optimizer.step()
    return loss


def check_steps(name, dtype, run, n):
    (moved, batch), (module, inputs), dtype = pair(name, dtype)
    tolerance = 1e-5 if dtype is torch.float64 else 2e-3
    if name in HOOKED:
        mode = moved.training
        moved.eval()(**batch)
        moved.train(mode)
    # by the usual eps, AdamW moves a parameter by its rate where its gradient is rounding alone
    optimizers = [torch.optim.AdamW(model.parameters(), lr=1e-3, eps=1e-4) for model in (moved, module)]
    one = run(lambda batch: step(moved, optimizers[0], batch))
    for _ in range(n):
        close(one(batch), step(module, optimizers[1], inputs), tolerance)
        for here, there in zip(moved.parameters(), module.parameters(), strict=True):
            assert (here.grad is None) == (there.grad is None)
            if here.grad is not None:
                close(here.grad, there.grad, tolerance)
            close(here, there, tolerance)
        for here, there in zip(moved.buffers(), module.buffers(), strict=True):
            close(here, there, tolerance)
    return one


@pytest.mark.parametrize("name", DRAWN)
def test_steps_are_pytorchs(name):
    check_steps(name, None, lambda step: step, 2)


@pytest.mark.slow
@each("name", ZOO)
def test_steps_in_float32_are_pytorchs(name):
    check_steps(name, torch.float32, lambda step: step, 2)


@pytest.mark.parametrize("name", DRAWN)
def test_a_whole_step_is_one_program(name):
    one = check_steps(name, None, lambda step: ja.compile(step, fullgraph=name not in BREAKING), 5)
    if name not in BREAKING:
        assert one.cache_info().currsize == 2 and one.cache_info().hits == 3  # without a state yet, and with it


@pytest.mark.parametrize("name", PURE)
def test_a_pure_function_has_the_gradients_of_pytorch(name):
    (moved, batch), (module, inputs), dtype = pair(name)
    fn, params, buffers = ja.torch.functional(moved, buffers=True)

    def loss(params):
        out, after = fn(params, buffers, **batch)
        return loss_of(out), after

    gradients, after = jax.jit(jax.grad(loss, has_aux=True))(params)
    loss_of(module(**inputs)).backward()
    tolerance = 1e-5 if dtype is torch.float64 else 2e-3
    for key, there in module.named_parameters():
        expected = torch.zeros_like(there) if there.grad is None else there.grad
        close(torch.tensor(np.array(gradients[key])), expected, tolerance)
    for key, there in module.named_buffers():
        close(torch.tensor(np.array(after[key])), there, tolerance)


@pytest.mark.slow
@each("name", ("gpt2", "llama", "opt"))
def test_generation_is_pytorchs(name):
    (moved, batch), (module, inputs), _ = pair(name)
    moved.eval(), module.eval()
    for options in ({}, {"num_beams": 2}, {"cache_implementation": "static"}):
        options |= {"do_sample": False, "max_new_tokens": 4, "pad_token_id": 0}
        found = moved.generate(batch["input_ids"], **options)
        assert torch.equal(ja.torch.to_torch(found), module.generate(inputs["input_ids"], **options))
    drawn = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        drawn.append(ja.torch.to_torch(moved.generate(batch["input_ids"], max_new_tokens=8, do_sample=True)))
    assert torch.equal(drawn[0], drawn[1]) and not torch.equal(drawn[0], drawn[2])


@pytest.mark.slow
def test_models_of_transformers_are_saved_and_read(tmp_path):
    (moved, _), (module, _), _ = pair("llama")
    moved.save_pretrained(tmp_path)
    again = ja.torch.move(type(module).from_pretrained(tmp_path))
    assert again.get_input_embeddings().weight is again.get_output_embeddings().weight
    twin = copy.deepcopy(moved)
    twin.load_state_dict(module.state_dict())
    unpickled = pickle.loads(pickle.dumps(moved))
    for model in (again, twin, ja.torch.move(unpickled)):
        for (key, here), there in zip(model.state_dict().items(), module.state_dict().values(), strict=True):
            assert torch.equal(ja.torch.to_torch(here), there), key


def test_buffers_come_back_from_a_pure_function_or_are_not_written():
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    fn, params = ja.torch.functional(module)
    x = np.linspace(0, 1, 15, dtype=np.float32).reshape(5, 3)
    with pytest.raises(ja.errors.TraceError) as raised:
        fn(params, x)
    assert "buffers=True" in raised.value.__notes__[-1]
    module.eval()
    assert jax.jit(jax.vmap(fn, (None, 0)))(params, x[:, None]).shape == (5, 1, 4)
    assert module[1].num_batches_tracked.item() == 0
