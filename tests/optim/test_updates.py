"""Updates as one program: they equal the rule itself, in place; what they cannot see is left to the rule."""

from __future__ import annotations

import random
import types
import warnings

import numpy as np
import pytest

import jaxaot as ja
from jaxaot.facade.kernels import together
from jaxaot.optim import updates
from jaxaot.optim.rules import optimizer as rules
from tests.optim.test_optimizers import CASES
from tests.seeds import one_in, seeds

SHAPES = [(3, 4), (5,), (3, 4), (), (2, 3), (5, 1)]


@pytest.fixture
def n_run(monkeypatch):
    """How many parameters programs have updated, in a list of one."""
    counted, run = [0], updates.Program.run

    def count(self, items, rate):
        run(self, items, rate)
        counted[0] += len(items)

    monkeypatch.setattr(updates.Program, "run", count)
    return counted


def trained(name, options, shapes, change=lambda optimizer, step: None, n=4, dtype=np.float32):
    """Parameters and what is kept of them, after some steps."""
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=shape).astype(dtype) for shape in shapes]
    params = [ja.tensor(array, requires_grad=True) for array in arrays]
    optimizer = getattr(ja.optim, name)(params, **options)
    for step in range(n):
        for i, p in enumerate(params):
            gradient = rng.normal(size=p.shape).astype(dtype) + 0.2
            p.grad = None if (i + step) % 5 == 4 else ja.tensor(gradient.astype(dtype))
        change(optimizer, step)
        optimizer.step()
    kept = [v for p in params for v in optimizer.state[p].values()]
    return [np.asarray(v.detach().numpy(), np.float64) for v in (*params, *kept)], params, optimizer


def by_rules(monkeypatch, *args, **kwargs):
    """The same by the rules themselves."""
    with monkeypatch.context() as patch:
        patch.setattr(rules, "updates_of", lambda *_: None)
        return trained(*args, **kwargs)[0]


def check_alike(found, right, atol=2e-5):
    for a, b in zip(found, right, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=atol)


@pytest.mark.parametrize("case", one_in(4, CASES))
def test_each_optimizer_is_as_its_rule(case, n_run, monkeypatch):
    name, options = CASES[case]
    shapes = [(3, 4), (5, 2), (3, 4)] if name == "Muon" else SHAPES
    schedule = lambda optimizer, step: optimizer.param_groups[0].update(lr=0.1 / (step + 1))
    found = trained(name, options, shapes, schedule)[0]
    assert n_run[0] >= 10 or case == "sgd-dampening" or name == "Muon"
    check_alike(found, by_rules(monkeypatch, name, options, shapes, schedule), 2e-2 if name == "Muon" else 2e-5)


OPTIONS = {
    "SGD": {"momentum": (0, 0.9), "weight_decay": (0, 0.1), "maximize": (False, True), "dampening": (0, 0.5)},
    "AdamW": {"betas": ((0.9, 0.99), [0.0, 0.9]), "amsgrad": (False, True), "weight_decay": (0, 0.2), "eps": (1e-3,)},
    "RMSprop": {"centered": (False, True), "momentum": (0, 0.5), "maximize": (False, True), "eps": (1e-2,)},
    "NAdam": {"decoupled_weight_decay": (False, True), "weight_decay": (0, 0.1), "eps": (1e-3,)},
}


@pytest.mark.parametrize("seed", seeds(40, 2))
def test_random_options_groups_and_changes(seed, monkeypatch):
    choice = random.Random(seed)
    name = choice.choice(sorted(OPTIONS))
    options = {key: choice.choice(values) for key, values in OPTIONS[name].items()}
    options["lr"] = choice.choice([0.1, 0, 1e-3])
    shapes = [choice.choice(SHAPES) for _ in range(choice.choice([1, 3, 10]))]
    way = choice.randrange(4)

    def change(optimizer, step):
        group = optimizer.param_groups[0]
        params = group["params"]
        if way == 1:
            group["lr"] = 0.01 * step
        elif way == 2 and step == 1:
            group["lr"] = ja.tensor(0.05)
        elif way == 3:
            shared = ja.ones(params[0].shape)
            params[0].grad = shared
            params[-1].grad = shared if params[-1].shape == params[0].shape else None

    check_alike(trained(name, options, shapes, change)[0], by_rules(monkeypatch, name, options, shapes, change))


def test_a_schedule_makes_no_program(n_run):
    params = [ja.ones(7, 3, requires_grad=True)]
    optimizer = ja.optim.AdamW(params, lr=0.1)
    schedule = ja.optim.lr_scheduler.CosineAnnealingLR(optimizer, 20)
    before = None
    for _ in range(4):
        params[0].grad = ja.ones(7, 3)
        optimizer.step()
        schedule.step()
        before = before or len(updates._programs)
    assert len(updates._programs) == before and n_run[0] == 4


def test_a_schedule_of_momentums_is_left_to_the_rule(n_run):
    change = lambda optimizer, step: optimizer.param_groups[0].update(momentum=0.5 + step / 100)
    trained("SGD", {"lr": 0.1, "momentum": 0.5}, [(6, 2)], change, n=10)
    assert n_run[0] == updates.MAX_OPTIONS


def test_it_is_in_place(n_run):
    _, (p,), optimizer = trained("AdamW", {}, [(4, 4)], n=3)
    seen, version = p.detach(), p._version
    places = lambda: {t._storage.array.unsafe_buffer_pointer() for t in (p, *optimizer.state[p].values())}
    before = places()
    p.grad = ja.ones(4, 4)
    optimizer.step()
    assert places() == before and n_run[0] == 4
    assert p._version > version and seen.equal(p.detach()) and p.is_leaf and p.requires_grad
    held = p.detach().jax()
    right = np.array(held)
    optimizer.step()
    np.testing.assert_array_equal(np.asarray(held), right, "who holds the values keeps them")


class Halved(ja.optim.SGD):
    def _update(self, parameter, gradient, state, group):
        super()._update(parameter, gradient * 0.5, state, group)


def test_what_a_program_cannot_see_is_left_to_the_rule(n_run):
    base = ja.ones(6)
    part = base[:3].detach().requires_grad_()
    for p, make in (
        (part, ja.optim.SGD),
        (ja.ones(3, dtype=ja.complex64, requires_grad=True), ja.optim.SGD),
        (ja.ones(3, requires_grad=True), Halved),
    ):
        p.grad = ja.ones(3, dtype=p.dtype)
        make([p], lr=0.5).step()
    assert base.tolist() == [0.5, 0.5, 0.5, 1, 1, 1] and n_run[0] == 0
    p = ja.ones(3, requires_grad=True)
    p.grad = p.detach()  # the same memory
    ja.optim.SGD([p], lr=0.5).step()
    assert p.tolist() == [0.5, 0.5, 0.5] and n_run[0] == 0


def test_in_a_compiled_step_the_rule_is_traced(n_run):
    p = ja.ones(3, requires_grad=True)
    optimizer = ja.optim.AdamW([p], lr=0.5)

    @ja.compile
    def step():
        optimizer.zero_grad()
        (p * p).sum().backward()
        optimizer.step()

    step()
    assert n_run[0] == 0 and p.tolist() != [1, 1, 1]


@pytest.mark.parametrize("name", ["SGD", "AdamW", "RMSprop"])
def test_an_update_in_a_function_that_runs_in_parts_is_one_operation_that_waits(name, n_run, monkeypatch):
    monkeypatch.setattr(together, "threads", types.SimpleNamespace(are_several=False))  # other tests start some

    def step(params, optimizer):
        optimizer.zero_grad()
        loss = sum((p**2).sum() for p in params)
        print(f"{loss.item():.3f}")
        loss.backward()
        ja.nn.utils.clip_grad_norm_(params, 1.0)
        optimizer.step()

    made = []
    for run in (step, ja.compile(step)):
        params = [ja.full(shape, 2.0, requires_grad=True) for shape in SHAPES]
        views = [p.detach() for p in params]
        optimizer = getattr(ja.optim, name)(params, lr=0.1, weight_decay=0.1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ja.errors.RecompileWarning)
            for _ in range(3):
                run(params, optimizer)
        made.append([np.asarray(t.detach()) for t in (*params, *views, *(p.grad for p in params))])
        made[-1] += [np.asarray([p._version for p in params])]
    check_alike(made[1], made[0])
    assert n_run[0] == 2 * 3 * len(SHAPES)
