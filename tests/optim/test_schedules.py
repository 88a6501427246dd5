"""Learning rate schedules against PyTorch's, and inside of compiled functions."""

import pickle

import numpy as np
import pytest

import jaxaot as ja
from tests.cases import each

CASES = {
    "step": lambda s, o: s.StepLR(o, 3, 0.5),
    "multi-step": lambda s, o: s.MultiStepLR(o, [2, 5, 5], 0.3),
    "constant": lambda s, o: s.ConstantLR(o, 0.25, 4),
    "linear": lambda s, o: s.LinearLR(o, 0.2, 0.9, 6),
    "exponential": lambda s, o: s.ExponentialLR(o, 0.8),
    "polynomial": lambda s, o: s.PolynomialLR(o, 7, 2.0),
    "cosine": lambda s, o: s.CosineAnnealingLR(o, 4, 0.01),
    "warm-restarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3, 2, 0.01),
    "lambda": lambda s, o: s.LambdaLR(o, lambda epoch: 0.9**epoch),
    "multiplicative": lambda s, o: s.MultiplicativeLR(o, lambda epoch: 0.95),
    "one-cycle": lambda s, o: s.OneCycleLR(o, 0.3, total_steps=20),
    "one-cycle-line": lambda s, o: s.OneCycleLR(
        o, 0.3, epochs=4, steps_per_epoch=5, anneal_strategy="linear", three_phase=True
    ),
    "cyclic": lambda s, o: s.CyclicLR(o, 0.01, 0.2, 3),
    "cyclic-2": lambda s, o: s.CyclicLR(o, 0.01, 0.2, 2, 4, mode="triangular2"),
    "cyclic-exp": lambda s, o: s.CyclicLR(o, 0.01, 0.2, 3, mode="exp_range", gamma=0.9, cycle_momentum=False),
    "sequential": lambda s, o: s.SequentialLR(o, [s.LinearLR(o, 0.1, 1.0, 4), s.ExponentialLR(o, 0.7)], [4]),
    "sequential-3": lambda s, o: s.SequentialLR(
        o, [s.ConstantLR(o, 0.1, 2), s.CosineAnnealingLR(o, 5), s.StepLR(o, 2)], [3, 9]
    ),
    "chained": lambda s, o: s.ChainedScheduler([s.ConstantLR(o, 0.5, 3), s.ExponentialLR(o, 0.9)]),
    "plateau": lambda s, o: s.ReduceLROnPlateau(o, "min", 0.5, 1, cooldown=1, min_lr=0.01),
    "plateau-max": lambda s, o: s.ReduceLROnPlateau(o, "max", 0.5, 0, threshold=0.1, threshold_mode="abs"),
}  # fmt: skip
METRICS = [1.0, 0.9, 0.95, 0.97, 0.99, 1.2, 1.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.9, 0.9, 0.9, 0.9]
BY_CASE = each("case", CASES)


def made(library, case, algorithm="SGD"):
    params = [library.ones(2).requires_grad_(), library.ones(3).requires_grad_()]
    options = {"momentum": 0.9} if algorithm == "SGD" else {}
    groups = [{"params": params[:1]}, {"params": params[1:], "lr": 0.05}]
    optimizer = getattr(library.optim, algorithm)(groups, lr=0.1, **options)
    return optimizer, CASES[case](library.optim.lr_scheduler, optimizer)


def advance(case, schedule, step):
    schedule.step(*([METRICS[step]] if case.startswith("plateau") else []))


def rates(library, case, algorithm="SGD"):
    optimizer, schedule = made(library, case, algorithm)
    found = []
    for step in range(len(METRICS)):
        found.append([group["lr"] for group in optimizer.param_groups] + list(schedule.get_last_lr()))
        found[-1] += [
            group["momentum"] if algorithm == "SGD" else group["betas"][0] for group in optimizer.param_groups
        ]
        advance(case, schedule, step)
    return found


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore")
@each("algorithm", ["SGD", "Adam"])
@BY_CASE
def test_rates_are_those_of_pytorch(case, algorithm):
    torch = pytest.importorskip("torch")
    np.testing.assert_allclose(rates(ja, case, algorithm), rates(torch, case, algorithm), rtol=1e-12)


@BY_CASE
def test_a_schedule_is_resumed(case):
    optimizer, schedule = made(ja, case)
    other_optimizer, other = made(ja, case)
    for step in range(5):
        advance(case, schedule, step)
    other.load_state_dict(pickle.loads(pickle.dumps(schedule.state_dict())))
    other_optimizer.load_state_dict(optimizer.state_dict())
    for step in range(5, 10):
        advance(case, schedule, step)
        advance(case, other, step)
        assert [g["lr"] for g in optimizer.param_groups] == [g["lr"] for g in other_optimizer.param_groups]


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "case", ["step", "linear", "exponential", "cosine", "warm-restarts", "multi-step", "sequential"]
)
def test_a_schedule_runs_inside_a_compiled_function(case):
    expected = [row[0] for row in rates(ja, case)]
    w = ja.zeros(1, requires_grad=True)
    optimizer = ja.optim.SGD([w], lr=0.1)
    schedule = CASES[case](ja.optim.lr_scheduler, optimizer)

    @ja.compile
    def step():
        w.grad = ja.ones(1)
        optimizer.step()
        schedule.step()

    found = []
    for _ in range(10):
        before = w.item()
        step()
        found.append(before - w.item())
    np.testing.assert_allclose(found, expected[:10], rtol=1e-4)


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("case", ["one-cycle", "cyclic", "sequential"])
def test_schedules_of_momentums_and_in_others_have_a_program_for_each_branch(case):
    found = []
    for is_compiled in (True, False):
        w = ja.tensor([1.0, -2.0], requires_grad=True)
        optimizer = ja.optim.AdamW([w], lr=0.1)
        schedule = CASES[case](ja.optim.lr_scheduler, optimizer)

        def step(optimizer=optimizer, schedule=schedule, w=w):
            optimizer.zero_grad()
            (w.square().sum() if hasattr(w, "grad") else w.sum()).backward()  # `hasattr` may read any name
            optimizer.step()
            schedule.step()

        call = ja.compile(step) if is_compiled else step
        found.append([(call(), w.tolist(), dict(optimizer.param_groups[0], params=0)) for _ in range(8)])
        assert not is_compiled or call.cache_info().misses <= 3, call.explain_recompiles()
    for (_, w, group), (_, other, other_group) in zip(*found, strict=True):
        np.testing.assert_allclose(w, other, rtol=1e-5)
        assert group == other_group


def test_bad_uses_say_what_to_write():
    optimizer = ja.optim.SGD([ja.ones(1, requires_grad=True)])
    schedules = ja.optim.lr_scheduler
    for make, words in (
        (lambda: schedules.StepLR(3, 1), "int is not an Optimizer"),
        (lambda: schedules.ConstantLR(optimizer, 2.0), "between 0 and 1"),
        (lambda: schedules.OneCycleLR(optimizer, 0.1), "You must define either total_steps"),
        (lambda: schedules.SequentialLR(optimizer, [schedules.StepLR(optimizer, 1)], [2]), "one more than"),
        (lambda: schedules.ReduceLROnPlateau(optimizer, "least"), "mode least is unknown"),
    ):
        with pytest.raises(ja.errors.JaxaotError, match=words):
            make()
