"""Whatever a compiled function read of Python is guarded, and nothing else: each thing is changed, one at a time.

`python -m tests.tracer.mutations` says of each program what is wrong.
"""

from __future__ import annotations

import dataclasses
import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxaot as ja
import jaxaot.tracer.trace
from jaxaot import nn
from jaxaot.plan.guards import EqualTo
from tests.tracer.mutations import World, check, of_case
from tests.tracer.python_state import DATA, read
from tests.tracer.test_whole_steps import Attention
from tests.tracer.test_whole_steps_of_libraries import nnx_transformer
from tests.whole_steps import Made, batch, plain

F = nn.functional

pytestmark = pytest.mark.usefixtures("interpreted")

CASES = {case.name: case for case in read(DATA.parent / "mutations.py")}

WHOLE = {
    "__getattribute__": "a class that reads attributes in its own way",
    "vars of an object": "all attributes are handed out at once",
    "a namespace and a named tuple": "a class in C tells nothing of reads",
    "a copy of an object": "all attributes are handed out at once",
    "equinox_model": "JAX takes the model apart",
}
"""Programs and models in which an object is looked at whole: what is not read of it makes a program all the same."""

EAGER = {"a module": "where an int stands for a parameter, or a dict of them is gone, eager code is more patient"}
"""Programs that run without a program after some change of what they read."""


@pytest.mark.few(22)
@pytest.mark.parametrize("name", CASES)
def test_what_is_read_is_guarded_and_nothing_else(name):
    report = check(of_case(CASES[name]))
    assert not report.findings, "\n".join(map(str, report.findings))
    assert bool(report.whole) == (name in WHOLE)
    assert report.n_changes[True] and bool(report.eager) == (name in EAGER)


# -- models ------------------------------------------------------------------------------------------------------------


def of_step(make):
    """Returns what makes copies of a step that is `Made`, with one batch."""

    def world():
        ja.manual_seed(0)
        (step, look, *_), x = make(), batch(0)
        return World(step, lambda: ((x,), {}), (step, look), lambda result: plain((result, look())), differs)

    return world


def differs(eager, compiled, path="it"):
    """Returns where two plain values differ, but for rounding, which training makes more of."""
    if isinstance(eager, (list, tuple)) and type(eager) is type(compiled) and len(eager) == len(compiled):
        found = (differs(a, b, f"{path}[{i}]") for i, (a, b) in enumerate(zip(eager, compiled, strict=True)))
        return next(filter(None, found), None)
    if isinstance(eager, (np.ndarray, float)) and type(eager) is type(compiled):
        same = np.shape(eager) == np.shape(compiled) and np.allclose(eager, compiled, 1e-2, 1e-3, equal_nan=True)
    else:
        same = type(eager) is type(compiled) and eager == compiled
    return None if same else f"{path}: eager {eager!r}, compiled {compiled!r}"


@dataclasses.dataclass
class Config:
    width: int = 8
    rate: float = 0.1
    act: str = "gelu"
    scale: float = 0.5
    clip: float | None = 1.0
    unread: int = 3
    layers: list = dataclasses.field(default_factory=lambda: [0, 1])


def mlp():
    cfg = Config()
    model = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Dropout(0.1), nn.LayerNorm(16), nn.Linear(16, 8))
    optimizer = ja.optim.AdamW(model.parameters(), lr=1e-2, eps=1e-3, weight_decay=0.1)
    scheduler = ja.optim.lr_scheduler.StepLR(optimizer, 2, 0.9)

    def step(x):
        loss = F.mse_loss(model(x) * cfg.scale, x)
        optimizer.zero_grad()
        loss.backward()
        if cfg.clip is not None:
            nn.utils.clip_grad_norm_(model.parameters(), cfg.clip)
        optimizer.step()
        scheduler.step()
        return loss.detach()

    return Made(step, lambda: (dict(model.state_dict()), scheduler.last_epoch), [])


class Convolutions(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg, self.act = cfg, getattr(F, cfg.act)
        self.convs = nn.ModuleList([nn.Conv2d(1, 3, 3, padding=1), nn.Conv2d(3, 3, 3, padding=1)])
        self.norm, self.head = nn.BatchNorm2d(3), nn.Linear(3, 4)

    def forward(self, x):
        for i in self.cfg.layers:
            x = self.norm(self.act(self.convs[i](x)))
        return self.head(x.mean((2, 3))) * self.cfg.scale


def cnn():
    model = Convolutions(Config())
    optimizer = ja.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    target = ja.tensor([0, 1, 2, 3])

    def step(x):
        loss = F.cross_entropy(model(x.view(4, 1, 2, 4)), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return Made(step, lambda: dict(model.state_dict()), [])


class Gpt(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.embed, self.places = nn.Embedding(11, cfg.width), nn.Embedding(8, cfg.width)
        self.attention = nn.ModuleList([Attention(cfg.width) for _ in cfg.layers])
        self.up, self.down = nn.Linear(cfg.width, 16), nn.Linear(16, cfg.width)
        self.norm, self.drop = nn.LayerNorm(cfg.width), nn.Dropout(cfg.rate)

    def forward(self, ids):
        x = self.embed(ids) + self.places(ja.arange(ids.shape[1]))
        for i in self.cfg.layers:
            x = x + self.drop(self.attention[i](self.norm(x)))
        x = x + self.down(getattr(F, self.cfg.act)(self.up(x))) * self.cfg.scale
        return self.norm(x) @ self.embed.weight.T


def gpt():
    model = Gpt(Config())
    optimizer = ja.optim.Adam(model.parameters(), lr=1e-2, eps=1e-3)

    def step(x):
        ids = (x.abs() * 5).long().clamp(0, 10)
        loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.detach()

    return Made(step, lambda: (dict(model.state_dict()), [p.grad for p in model.parameters()]), [])


def nnx_model():
    nnx, optax = pytest.importorskip("flax.nnx"), pytest.importorskip("optax")
    cfg = {"heads": 2, "act": "gelu", "depth": 2, "temperature": 1.0}
    model = nnx_transformer(nnx)(cfg, nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adamw(1e-2, eps=1e-3), wrt=nnx.Param)

    def loss_fn(model, ids):
        return optax.softmax_cross_entropy_with_integer_labels(model(ids[:, :-1]), ids[:, 1:]).mean()

    def step(x):
        ids = (jnp.abs(x.jax()) * 5).astype(int).clip(0, 10)
        loss, grads = nnx.value_and_grad(loss_fn)(model, ids)
        optimizer.update(model, grads)
        return loss

    return Made(step, lambda: jax.tree.leaves(nnx.state(model, nnx.Param)), [])


def equinox_model():
    eqx = pytest.importorskip("equinox")
    world = {"model": eqx.nn.MLP(8, 8, 8, 1, key=jax.random.key(0)), "lr": 0.1, "act": jnp.tanh}

    def step(x):
        run = eqx.filter_value_and_grad(lambda m: jnp.mean(world["act"](jax.vmap(m)(x.jax())) ** 2))
        loss, grads = run(world["model"])
        updates = jax.tree.map(lambda g: None if g is None else -world["lr"] * g, grads)
        world["model"] = eqx.apply_updates(world["model"], updates)
        return loss

    return Made(step, lambda: jax.tree.leaves(eqx.filter(world["model"], eqx.is_array)), [])


MODELS = {fn.__name__: fn for fn in (mlp, cnn, gpt, nnx_model, equinox_model)}


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_step_of_a_model(name):
    choose = lambda changes: random.Random(0).sample(changes, min(len(changes), 40))
    report = check(of_step(MODELS[name]), choose, n_at_once=5)
    assert not report.findings, "\n".join(map(str, report.findings))
    assert bool(report.whole) == (name in WHOLE)
    assert report.n_changes[True] > 10


# -- the check can fail ------------------------------------------------------------------------------------------------


def planted(monkeypatch, fault):
    """Puts a fault into what makes guards; it takes the observer, and the guards to those that are left."""
    make_guards = jaxaot.tracer.trace.python_guards

    def faulty(roots, observer, *rest):
        fault(observer, None)
        found = make_guards(roots, observer, *rest)
        left = fault(observer, found)
        return found if left is None else left

    monkeypatch.setattr(jaxaot.tracer.trace, "python_guards", faulty)


def kinds(name):
    return {(finding.kind, finding.change) for finding in check(of_case(CASES[name])).findings}


def test_it_sees_that_values_are_not_guarded(monkeypatch):
    planted(monkeypatch, lambda _, found: found and tuple(g for g in found if not isinstance(g.condition, EqualTo)))
    found = kinds("plain attributes")
    assert {("DIFFERENT", f"attribute {name!r} of ['o'] other") for name in ("k", "scale", "flag", "mode")} <= found


def test_it_sees_that_one_read_was_missed(monkeypatch):
    planted(monkeypatch, lambda observer, _: [held.names.pop("k", None) for held in observer.held.values()] and None)
    assert kinds("slots, some of them empty")


def test_it_sees_that_an_absent_attribute_is_not_guarded(monkeypatch):
    planted(
        monkeypatch, lambda observer, _: [held.names.pop("scale", None) for held in observer.held.values()] and None
    )
    assert ("DIFFERENT", "attribute 'scale' of ['o'] set") in kinds("hasattr and getattr with a default")


def test_it_sees_that_what_was_not_read_is_guarded(monkeypatch):
    def fault(observer, _):
        for held in observer.held.values():
            held.names.update(dict.fromkeys(held.before))

    planted(monkeypatch, fault)
    assert ("GROWS", "unread attribute 'unread' of ['o'] other") in kinds("plain attributes")
