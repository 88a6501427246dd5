"""Whole programs from an archive: training steps, several losses, decoding with a cache, flax-free processes."""

import subprocess
import sys
import textwrap

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
from tests.archive.roundtrip import WITHOUT_SOURCE, archived


def same(one, other, rtol=1e-5):
    np.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), rtol=rtol, atol=1e-6)


def make_step():
    ja.manual_seed(0)
    model = ja.nn.Sequential(ja.nn.Linear(3, 2, bias=False), ja.nn.BatchNorm1d(2), ja.nn.Tanh())
    optimizer = ja.optim.AdamW(model.parameters(), lr=1e-2)

    def step(x, y):
        optimizer.zero_grad()
        out = model(x)
        fit, size = ((out - y) ** 2).mean(), out.abs().mean()
        (fit + 0.1 * size).backward()
        optimizer.step()
        optimizer.zero_grad()
        return fit.detach(), size.detach()

    return model, optimizer, step


@pytest.mark.slow
def test_a_training_step_with_its_optimizer_and_two_losses():
    model, _, step = make_step()
    x, y = ja.randn(6, 3), ja.randn(6, 2)
    compiled = ja.compile(step)
    compiled(x, y)  # the optimizer makes its state
    loaded = archived(step, x, y)
    for _ in range(3):
        for one, other in zip(compiled(x, y), loaded(x, y), strict=True):
            same(one, other)
    state = loaded.state_dict()
    for name, value in model.state_dict().items():
        same(value, state[f"model.{name}"])
    assert "optimizer.state.model.0.weight.exp_avg" in state


def test_two_losses_each_with_a_gradient_of_its_own():
    w = ja.randn(3, requires_grad=True)
    fn = lambda x: ((w * x).sum(), (w**2).sum())
    loaded, x = archived(fn, ja.ones(3)), ja.randn(3)
    first, second = loaded(x)
    (held,) = loaded.parameters()
    first.backward(retain_graph=True)
    same(held.grad, x)
    second.backward()
    same(held.grad, x + 2 * w)


def test_a_step_whose_gradients_come_and_go_is_refused():
    w = ja.randn(3, requires_grad=True)
    optimizer = ja.optim.SGD([w], lr=0.1)

    def step(x):
        if w.grad is not None:
            w.grad = None
        (w * x).sum().backward()
        optimizer.step()

    with pytest.raises(ja.errors.ExportError, match="Call the function once before it is exported"):
        ja.export(step, ja.ones(3))
    step(ja.ones(3))
    loaded = archived(step, ja.ones(3))
    for _ in range(2):
        step(ja.ones(3))
        loaded(ja.ones(3))
    same(w, loaded.state_dict()["w"])
    (held,) = loaded.parameters()
    same(w.grad, held.grad)


@pytest.mark.slow
def test_decoding_writes_the_cache_in_place():
    project = ja.randn(4, 4)

    def decode(token, position, keys):
        keys.index_copy_(1, position, (token @ project).unsqueeze(1))
        return (keys @ token.unsqueeze(-1)).squeeze(-1), keys[:, :1]

    given = lambda: (ja.randn(2, 4), ja.tensor([0]), ja.zeros(2, 8, 4))
    with ja.no_grad():
        loaded = archived(decode, *given(), with_gradients=False)
        expected, actual = ja.zeros(2, 8, 4), ja.zeros(2, 8, 4)
        for position in range(4):
            token, place = ja.randn(2, 4), ja.tensor([position])
            same(decode(token, place, expected)[0], loaded(token, place, actual)[0])
        view = loaded(token, place, actual)[1]
        same(expected, actual)
        actual.zero_()
        assert view.abs().sum().item() == 0


BARE = (
    WITHOUT_SOURCE
    + """step = ja.load(sys.argv[1])
x, y = ja.load(sys.argv[2])
print(*(loss.item() for _ in range(2) for loss in step(x, y)))
"""
)


@pytest.mark.slow
def test_a_process_without_the_source_and_without_flax(tmp_path):
    _, _, step = make_step()
    x, y = ja.randn(6, 3), ja.randn(6, 2)
    compiled = ja.compile(step)
    compiled(x, y)
    ja.export(step, x, y).save(tmp_path / "step.jaxaot")
    ja.save((x, y), tmp_path / "batch.safetensors")
    command = [
        sys.executable,
        "-c",
        textwrap.dedent(BARE),
        str(tmp_path / "step.jaxaot"),
        str(tmp_path / "batch.safetensors"),
    ]
    found = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert found.returncode == 0, found.stderr
    expected = [loss.item() for _ in range(2) for loss in compiled(x, y)]
    np.testing.assert_allclose([float(text) for text in found.stdout.split()], expected, rtol=1e-4)


def test_several_platforms(tmp_path):
    exported = ja.export(ja.nn.Linear(3, 2), ja.ones(1, 3), platforms=("cpu", "cuda", "tpu"))
    exported.save(tmp_path / "model.jaxaot")
    loaded = ja.load(tmp_path / "model.jaxaot")
    assert loaded.graph("forward").platforms == ("cpu", "cuda", "tpu")
    assert loaded(ja.ones(1, 3)).shape == (1, 2)
    ja.export(ja.nn.Linear(3, 2), ja.ones(1, 3), platforms=["tpu"]).save(tmp_path / "tpu.jaxaot")
    with pytest.raises(ja.errors.ArchiveError, match="is for tpu, and this process runs on cpu"):
        ja.load(tmp_path / "tpu.jaxaot")
    with pytest.raises(ja.errors.ArgumentError, match="an archive is for some of"):
        ja.export(ja.nn.Linear(3, 2), ja.ones(1, 3), platforms=["gpu"])


def test_an_archive_for_cpus_went_through_their_passes(tmp_path, everything_is_large):
    x = ja.ones(64, 16)
    fn = lambda x: (x @ x.t()).softmax(-1)
    texts = []
    for platforms in (("cpu",), ("cpu", "tpu")):
        ja.export(fn, x, platforms=platforms).save(tmp_path / "f.jaxaot")
        loaded = ja.load(tmp_path / "f.jaxaot")
        same(loaded(x), fn(x))
        texts.append(loaded.graph("forward").mlir_module())
    assert texts[0] != texts[1]


def test_barriers_of_a_checkpoint_are_kept_where_an_archive_is_loaded(tmp_path):
    def fn(x):
        layer = jax.checkpoint(lambda x: jnp.tanh(x @ x.T) @ x)
        return jax.grad(lambda x: layer(layer(x)).sum())(x)

    x = jax.random.normal(jax.random.key(0), (4, 4))
    ja.export(fn, x).save(tmp_path / "f.jaxaot")
    loaded = ja.load(tmp_path / "f.jaxaot")
    np.testing.assert_allclose(loaded(x), fn(x), rtol=1e-4, atol=1e-5)
    assert "optimization_barrier" in loaded.graph("forward").mlir_module()
    assert "cse_barrier_expander" in str(loaded._calls.programs[0].executables["forward"].compiler_options)


@pytest.mark.slow
def test_gradients_and_their_derivative_are_without_faults_of_xla():
    n = ja.tensor([50_000], dtype=ja.int32)  # XLA takes the square, which overflows, for a number that is not negative
    fn = lambda x: (x**3 * (n * n).abs()).sum()
    loaded, found = archived(fn, ja.ones(1, requires_grad=True), with_gradients=2), []
    for call in (fn, loaded):
        x = ja.full((1,), 2.0, requires_grad=True)
        (first,) = ja.autograd.grad(call(x), x, create_graph=True)
        (second,) = ja.autograd.grad(first.sum(), x)
        found.append([first.item(), second.item()])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-6)
    assert found[0][0] > 0
