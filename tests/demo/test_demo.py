"""The demo's model is right: gradients, optimizer and decoding against the same math on plain JAX."""

from __future__ import annotations

import dataclasses
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rich.console import Console

import jaxaot as ja
from jaxaot.demo.model import GPT, AdamW, Shape
from jaxaot.demo.plain import PlainTrainer, loss_fn, take_params
from jaxaot.demo.report import curve, write_report
from jaxaot.demo.text import load_text, make_corpus
from jaxaot.demo.train import Trainer, run
from jaxaot.errors import UsageError

TINY = Shape(n_characters=11, n_layers=2, n_heads=2, width=8, context=6, dropout=0.0)


@pytest.fixture
def model():
    ja.manual_seed(0)
    return GPT(TINY)


def batch(seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 11, (2, 6)).astype(np.int32), rng.integers(0, 11, (2, 6)).astype(np.int32)


@pytest.mark.slow
def test_gradients_are_those_of_plain_jax(model):
    codes, targets = batch()
    loss = model.loss(ja.tensor(codes), ja.tensor(targets))
    loss.backward()
    expected_loss, expected = jax.value_and_grad(loss_fn)(take_params(model), codes, targets, None, TINY)
    np.testing.assert_allclose(loss.item(), expected_loss, rtol=1e-5)
    for p, g in zip(model.parameters(), expected, strict=True):
        np.testing.assert_allclose(p.grad.numpy(), g, rtol=1e-3, atol=1e-6)


@pytest.mark.slow
def test_compiled_steps_are_those_of_plain_jax():
    ja.manual_seed(0)
    model = GPT(dataclasses.replace(TINY, n_layers=1))
    optimizer = AdamW(list(model.parameters()))
    plain = PlainTrainer(model, optimizer, 0)
    trainer = Trainer(model, optimizer, None)
    for i in range(4):
        codes, targets = map(jnp.asarray, batch(i))
        loss = trainer.step(codes, targets, 1e-2).item()
        np.testing.assert_allclose(loss, plain.step(codes, targets, 1e-2), rtol=1e-4)
    # a bias of the keys has no gradient but rounding noise, which Adam blows up
    noisy = {id(block.attention.qkv.bias) for block in model.blocks}
    for p, expected in zip(model.parameters(), plain.state[0], strict=True):
        if id(p) in noisy:
            continue
        np.testing.assert_allclose(p.detach().numpy(), expected, rtol=1e-2, atol=2e-4)
    assert trainer.loss.cache_info().misses == 1 and trainer.update.cache_info().misses == 1


@pytest.mark.slow
def test_decoding_through_the_cache_equals_the_whole_pass(model):
    codes, _ = batch()
    with ja.no_grad():
        whole = model(ja.tensor(codes[:1])).numpy()[0]
        cache = model.make_cache()
        decode = ja.compile(lambda code, place: model.decode(code, place, cache))
        for place in range(6):
            logits = decode(ja.tensor([int(codes[0, place])]), ja.tensor([place])).numpy()[0]
            np.testing.assert_allclose(logits, whole[place], rtol=1e-3, atol=1e-5)
    assert decode.cache_info().misses == 1
    signature = decode.trace(ja.tensor([0]), ja.tensor([0])).signature
    assert sum(s.is_written for s in signature.storages) == 2 * TINY.n_layers


@pytest.mark.slow
def test_a_short_run_writes_its_report(tmp_path, capsys):
    corpus = make_corpus("words", "the cat sat on the mat. " * 100, 100)
    shape = Shape(len(corpus.alphabet), n_layers=1, n_heads=2, width=16, context=16)
    result = run(corpus, 12, 0.5, 0, Console(), shape)
    assert len(result.losses) == 12 and result.losses[-1] < result.losses[0]
    assert len(result.seconds["jax.jit"]) >= 1 and result.sample
    shown = capsys.readouterr().out
    assert "unigram entropy" in shown and "plain jax.jit" in shown
    assert len(result.rows()) == 8 and result.to_dict()["recomputed"]
    assert json.loads(json.dumps(result.to_dict()))["losses"] == result.losses
    assert result.partition.timeline.peak_bytes < result.everything.timeline.peak_bytes
    assert result.bytes["jaxaot"] > 0 and result.bytes["jax.jit"] > 0
    again = result.again()
    assert sum(line.n for line in again) == len(result.partition.plan.recomputed)
    assert len({line.place for line in again}) == len(again) and any(line.seconds > 0 for line in again)
    page = write_report(tmp_path / "out", result).read_text()
    assert page.count("<figure>") == 2 and "<polyline" in page and all(line.place in page for line in again)
    assert '</h1>\n<p class="lead">What ' in page  # what it is for
    assert "<script" not in page and "model.py:" in (tmp_path / "out" / "graphs.html").read_text()


def test_the_standard_library_is_real_text():
    corpus = load_text(None, 1000)
    assert len(corpus.codes) > 1_000_000 and 2.5 < corpus.unigram_entropy < 4
    assert corpus.decode(list(corpus.encode("def f"))) == "def f"


def test_rare_characters_share_a_number():
    corpus = make_corpus("x", "".join(chr(i) for i in range(32, 1000)) * 2, 10)
    assert len(corpus.alphabet) == 128 and corpus.codes.max() < 128


@pytest.mark.parametrize("text", ["", "   \n", "short"])
def test_too_little_text_is_refused(text):
    with pytest.raises(UsageError):
        make_corpus("it", text, 100)


def test_curve_is_a_picture():
    assert curve([3.0, 2.0, 1.0], 2.5).count("<line") > 2
