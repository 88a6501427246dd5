"""Optimizers against PyTorch's, step by step; compiled against eager; states that are saved and loaded."""

import copy
import math
import pickle

import numpy as np
import pytest

import jaxaot as ja
from tests.cases import each
from tests.seeds import one_in

CASES = {
    "sgd": ("SGD", {"lr": 0.1}),
    "sgd-momentum": ("SGD", {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.1}),
    "sgd-dampening": ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.5, "maximize": True}),
    "sgd-nesterov": ("SGD", {"lr": 0.1, "momentum": 0.8, "nesterov": True}),
    "adam": ("Adam", {}),
    "adam-decay": ("Adam", {"lr": 0.05, "weight_decay": 0.1, "betas": (0.5, 0.9), "eps": 1e-3}),
    "adam-amsgrad": ("Adam", {"lr": 0.05, "amsgrad": True, "maximize": True}),
    "adamw": ("AdamW", {"lr": 0.05}),
    "adamw-amsgrad": ("AdamW", {"lr": 0.05, "amsgrad": True, "weight_decay": 0.3, "betas": (0.0, 0.99)}),
    "adamax": ("Adamax", {"lr": 0.05, "weight_decay": 0.1}),
    "nadam": ("NAdam", {"lr": 0.05}),
    "nadam-decay": ("NAdam", {"lr": 0.05, "weight_decay": 0.1, "momentum_decay": 0.01, "decoupled_weight_decay": True}),
    "radam": ("RAdam", {"lr": 0.05}),
    "radam-decay": ("RAdam", {"lr": 0.05, "weight_decay": 0.1, "betas": (0.8, 0.95), "decoupled_weight_decay": True}),
    "rmsprop": ("RMSprop", {"lr": 0.05}),
    "rmsprop-centered": ("RMSprop", {"lr": 0.05, "momentum": 0.9, "centered": True, "weight_decay": 0.1}),
    "adagrad": ("Adagrad", {"lr": 0.05}),
    "adagrad-decay": ("Adagrad", {"lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.2}),
    "adadelta": ("Adadelta", {}),
    "adadelta-decay": ("Adadelta", {"rho": 0.8, "weight_decay": 0.1, "maximize": True}),
    "adafactor": ("Adafactor", {"lr": 0.05}),
    "adafactor-decay": ("Adafactor", {"lr": 0.5, "weight_decay": 0.1, "d": 1.5, "eps": (1e-4, 1e-2), "maximize": True}),
    "rprop": ("Rprop", {"lr": 0.05}),
    "rprop-etas": ("Rprop", {"etas": (0.4, 1.5), "step_sizes": (1e-3, 0.1)}),
    "muon": ("Muon", {"lr": 0.05}),
    "muon-adamw": ("Muon", {"lr": 0.05, "nesterov": False, "adjust_lr_fn": "match_rms_adamw"}),
}
N_STEPS = 8
TOLERANCE = {"Muon": 2e-2}
"""Muon's iteration runs in bfloat16."""

BY_CASE = pytest.mark.parametrize("case", CASES)


def starts(name):
    rng = np.random.default_rng(0)
    shapes = [(3, 4), (5, 2)] if name == "Muon" else [(3, 4), (5,)]
    return [rng.normal(size=shape).astype(np.float32) for shape in shapes]


def gradients(name, step):
    rng = np.random.default_rng(step + 1)
    return [rng.normal(size=x.shape).astype(np.float32) * 0.5 + 0.2 for x in starts(name)]


def made(library, case, **changes):
    name, options = CASES[case]
    params = [library.tensor(x).requires_grad_() for x in starts(name)]
    return params, getattr(library.optim, name)(params, **{**options, **changes})


def stepped(library, case, optimizer, params, step, call):
    """Does one step with its own gradients, and lowers the learning rate after some."""
    for parameter, gradient in zip(params, gradients(CASES[case][0], step), strict=True):
        parameter.grad = library.tensor(gradient)
    call()
    if step in (2, 4, 5):
        optimizer.param_groups[0]["lr"] *= 0.5


def run(library, case, compiled=False):
    params, optimizer = made(library, case)
    call = ja.compile(lambda: optimizer.step()) if compiled else optimizer.step
    found = []
    for step in range(N_STEPS):
        stepped(library, case, optimizer, params, step, call)
        found.append([np.array(p.detach().numpy()) for p in params])
    return found, optimizer, call


def assert_close(case, found, expected, tolerance=1e-5):
    tolerance = TOLERANCE.get(CASES[case][0], tolerance)
    for step, (one, other) in enumerate(zip(found, expected, strict=True)):
        for x, y in zip(one, other, strict=True):
            np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance, err_msg=f"step {step}")


@pytest.mark.oracle
@BY_CASE
def test_steps_and_states_are_those_of_pytorch(case):
    torch = pytest.importorskip("torch")
    expected, theirs, _ = run(torch, case)
    found, ours, _ = run(ja, case)
    assert_close(case, found, expected)
    states = ours.state_dict()["state"], theirs.state_dict()["state"]
    assert set(states[0]) == set(states[1])
    for number, kept in states[1].items():
        assert set(states[0][number]) == {name for name, value in kept.items() if value is not None}
        for name, value in kept.items():
            if value is not None:
                tolerance = TOLERANCE.get(CASES[case][0], 1e-5)
                np.testing.assert_allclose(states[0][number][name].numpy(), value.numpy(), tolerance, tolerance)
    groups = ours.state_dict()["param_groups"], theirs.state_dict()["param_groups"]
    assert {name: groups[0][0][name] for name in groups[0][0]} == {name: groups[1][0][name] for name in groups[0][0]}


@pytest.mark.oracle
@pytest.mark.parametrize("case", one_in(2, CASES))
def test_states_of_pytorch_are_loaded(case):
    torch = pytest.importorskip("torch")
    _, theirs, _ = run(torch, case)
    params, ours = made(ja, case)
    ours.load_state_dict(theirs.state_dict())
    old = theirs.param_groups[0]["params"]
    with ja.no_grad():
        for parameter, value in zip(params, old, strict=True):
            parameter.copy_(value.detach().numpy())
    stepped(ja, case, ours, params, N_STEPS, ours.step)
    stepped(torch, case, theirs, old, N_STEPS, theirs.step)
    assert_close(case, [[p.detach().numpy() for p in params]], [[p.detach().numpy() for p in old]])


@pytest.mark.few(1)
@pytest.mark.parametrize("case", one_in(2, CASES))
def test_a_compiled_step_is_one_program_whatever_step_and_learning_rate_are(case):
    found, _, call = run(ja, case, compiled=True)
    expected, _, _ = run(ja, case)
    assert_close(case, found, expected, 1e-6)
    n_programs = 2 if case == "sgd-dampening" else 1  # whose momentum begins with the first gradient
    assert call.cache_info().misses == n_programs, call.explain_recompiles()


@pytest.mark.parametrize("case", one_in(3, CASES))
def test_a_run_is_resumed(case):
    params, optimizer = made(ja, case)
    for step in range(3):
        stepped(ja, case, optimizer, params, step, optimizer.step)
    saved = copy.deepcopy(optimizer.state_dict()), [p.detach().clone() for p in params]
    others, other = made(ja, case, lr=0.7)
    other.load_state_dict(pickle.loads(pickle.dumps(saved[0])))
    with ja.no_grad():
        for parameter, value in zip(others, saved[1], strict=True):
            parameter.copy_(value)
    for step in range(3, 6):
        stepped(ja, case, optimizer, params, step, optimizer.step)
        stepped(ja, case, other, others, step, other.step)
    assert [p.tolist() for p in params] == [p.tolist() for p in others]
    assert repr(other) == repr(optimizer)


@pytest.mark.oracle
def test_a_complex_parameter_is_two_real_ones():
    torch = pytest.importorskip("torch")
    start = np.array([1 + 2j, -0.5 + 0.3j], np.complex64)
    gradient = np.array([0.3 - 1j, 2 + 0.1j], np.complex64)
    for name in ("SGD", "Adam", "RMSprop", "Adadelta"):
        found = []
        for library in (ja, torch):
            w = library.tensor(start).requires_grad_()
            optimizer = getattr(library.optim, name)([w])
            for _ in range(3):
                w.grad = library.tensor(gradient)
                optimizer.step()
            found.append(w.detach().numpy())
        np.testing.assert_allclose(*found, rtol=1e-5)


def rosenbrock(library, x):
    return (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2 + (x[2:] ** 2).sum()


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("options", [{}, {"line_search_fn": "strong_wolfe"}, {"history_size": 3, "max_iter": 7}])
def test_lbfgs_finds_a_minimum(options):
    x = ja.tensor([-0.5, 0.5, 0.3]).requires_grad_()
    losses = lbfgs_losses(ja, x, {"lr": 0.3 if "line_search_fn" not in options else 1, **options})
    assert losses[-1] < 1e-2 * losses[0]


def lbfgs_losses(library, x, options):
    optimizer = library.optim.LBFGS([x], **options)

    def closure():
        optimizer.zero_grad()
        loss = rosenbrock(library, x)
        loss.backward()
        return loss

    return [float(optimizer.step(closure).detach()) for _ in range(8)]


@pytest.mark.oracle
@pytest.mark.parametrize("options", [{"lr": 0.3, "max_iter": 4}, {"line_search_fn": "strong_wolfe", "max_iter": 4}])
def test_lbfgs_goes_where_that_of_pytorch_goes(options):
    torch = pytest.importorskip("torch")
    runs = [lbfgs_losses(lib, lib.tensor([-0.5, 0.5, 0.3]).requires_grad_(), options)[:4] for lib in (ja, torch)]
    np.testing.assert_allclose(*runs, rtol=2e-3)


# -- groups, hooks, errors ---------------------------------------------------------------------------------------------


def test_groups_have_options_of_their_own():
    a, b = ja.ones(2, requires_grad=True), ja.ones(3, requires_grad=True)
    optimizer = ja.optim.SGD([{"params": [a], "lr": 1.0}, {"params": b}], lr=0.1)
    frozen = ja.ones(1)
    optimizer.add_param_group({"params": [frozen], "momentum": 0.9})
    assert [group["momentum"] for group in optimizer.param_groups] == [0, 0, 0.9]
    a.grad, b.grad = ja.ones(2), ja.ones(3)
    optimizer.step()
    assert a.tolist() == [0, 0] and b.tolist() == pytest.approx([0.9] * 3) and frozen.tolist() == [1]
    optimizer.zero_grad(set_to_none=False)
    assert a.grad.tolist() == [0, 0]
    optimizer.zero_grad()
    assert a.grad is None


def test_hooks_run_around_a_step():
    w = ja.ones(1, requires_grad=True)
    optimizer = ja.optim.SGD([w], lr=1)
    seen = []
    handles = [
        optimizer.register_step_pre_hook(lambda opt, args, kwargs: seen.append(w.item())),
        optimizer.register_step_post_hook(lambda opt, args, kwargs: seen.append(w.item())),
    ]
    w.grad = ja.ones(1)
    optimizer.step()
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert seen == [1, 0] and w.item() == -1


def test_a_closure_computes_the_loss_anew():
    w = ja.ones(1, requires_grad=True)
    optimizer = ja.optim.SGD([w], lr=0.25)

    def closure():
        optimizer.zero_grad()
        loss = (w * w).sum()
        loss.backward()
        return loss

    with ja.no_grad():
        assert optimizer.step(closure).item() == 1
    assert w.item() == 0.5


@each(
    ("make", "words"),
    [
        (lambda w: ja.optim.SGD(w), "should be an iterable"),
        (lambda w: ja.optim.SGD([]), "empty parameter list"),
        (lambda w: ja.optim.SGD([w, w]), "duplicate parameters"),
        (lambda w: ja.optim.SGD([{"params": w}, {"params": [w]}]), "more than one parameter group"),
        (lambda w: ja.optim.SGD([w * 2]), "can't optimize a non-leaf"),
        (lambda w: ja.optim.SGD([3]), "can only optimize Tensors"),
        (lambda w: ja.optim.Adam([w], lr=-1), "Invalid learning rate: -1"),
        (lambda w: ja.optim.Adam([w], betas=(1.0, 0.9)), "Invalid beta parameter at index 0"),
        (lambda w: ja.optim.SGD([w], nesterov=True), "Nesterov momentum requires"),
        (lambda w: ja.optim.Adam([w], differentiable=True), "ja.func.grad"),
        (lambda w: ja.optim.Muon([w]), "only supports 2D parameters"),
        (lambda w: ja.optim.LBFGS([w]).step(), "needs a closure"),
        (lambda w: ja.optim.Optimizer([w], {}).step(), "neither `step` nor `_update"),
        (lambda w: ja.optim.SGD([w]).load_state_dict({"state": {}, "param_groups": []}), "number of parameter groups"),
        (lambda w: ja.optim.Lion([w]), "from_optax(optax.lion"),
        (lambda w: ja.optim.AdamV([w]), "Did you mean: 'Adam"),
    ],
)
def test_bad_uses_say_what_to_write(make, words):
    w = ja.ones(3, requires_grad=True)
    w.grad = ja.ones(3)
    with pytest.raises(ja.errors.JaxaotError) as caught:
        make(w)
    assert words in str(caught.value)


@pytest.mark.slow
def test_a_step_of_a_model_is_one_program():
    ja.manual_seed(0)
    model = ja.nn.Sequential(ja.nn.Linear(3, 4), ja.nn.BatchNorm1d(4))
    start = copy.deepcopy(model)
    losses = []
    for is_compiled in (True, False):
        net = copy.deepcopy(start)
        optimizer = ja.optim.AdamW(net.parameters(), lr=0.05)
        schedule = ja.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)

        def step(x, net=net, optimizer=optimizer, schedule=schedule):
            optimizer.zero_grad()
            loss = (net(x) - x.sum(1, keepdim=True)).square().mean()
            loss.backward()
            norm = ja.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            optimizer.step()
            schedule.step()
            return loss, norm

        call = ja.compile(step) if is_compiled else step
        x = ja.linspace(-1, 1, 12).reshape(4, 3)
        losses.append([[v.item() for v in call(x)] for _ in range(6)])
        assert net[1].num_batches_tracked.item() == 6
        assert optimizer.param_groups[0]["lr"] == pytest.approx(0.05 * (1 + math.cos(0.6 * math.pi)) / 2)
        if is_compiled:
            assert call.cache_info().misses <= 2, call.explain_recompiles()
    np.testing.assert_allclose(*losses, rtol=5e-3)
