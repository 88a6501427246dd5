"""`GradScaler`: step by step as PyTorch's, eagerly and in one compiled step."""

import copy
import pickle

import numpy as np
import pytest

import jaxaot as ja
from jaxaot import errors


class Momentum:
    """An optimizer as PyTorch has them; its state is there from the start."""

    def __init__(self, params, lr=0.1):
        self.param_groups = [{"params": list(params)}]
        self.lr = lr
        self.buffers = [ja.zeros_like(p) for p in params]
        self.n_calls = 0

    def step(self):
        self.n_calls += 1
        with ja.no_grad():
            for p, buffer in zip(self.param_groups[0]["params"], self.buffers, strict=True):
                if p.grad is not None:
                    buffer.mul_(0.9).add_(p.grad)
                    p.sub_(buffer * self.lr)
        return "stepped"


def prepared(value=1.0, n=1, **options):
    params = [ja.ones(3, requires_grad=True) for _ in range(n)]
    return params, Momentum(params), ja.amp.GradScaler(init_scale=4.0, growth_interval=2, **options)


INPUTS = [0.1, 0.2, 0.1, np.inf, 0.1, np.nan, 0.3, 0.1, 0.1, 1e38, 0.1, 0.1]


def trained(is_compiled, unscales=False, **options):
    """Returns scale, tracker, weight and loss after each step."""
    w = ja.tensor([[0.5, -1.0], [2.0, 0.25]], requires_grad=True)
    b = ja.tensor([0.5, -0.5], requires_grad=True)
    optimizer, scaler = Momentum([w, b]), ja.amp.GradScaler(init_scale=8.0, growth_interval=2, **options)

    def step(x):
        loss = ((x @ w + b) ** 2).mean()
        scaler.scale(loss).backward()
        if unscales:
            scaler.unscale_(optimizer)
            w.grad.clamp_(-0.1, 0.1)
        scaler.step(optimizer)
        scaler.update()
        w.grad = b.grad = None
        return loss.detach()

    run = ja.compile(step) if is_compiled else step
    found = []
    for value in INPUTS:
        loss = run(ja.full((3, 2), value))
        state = scaler.state_dict()
        found.append((state["scale"], state["_growth_tracker"], *w.flatten().tolist(), *b.tolist(), loss.item()))
    if is_compiled:
        assert run.cache_info().misses == 1
    else:
        assert optimizer.n_calls < len(INPUTS)
    return np.array(found)


def trained_by_torch(torch, unscales=False, **options):
    w = torch.tensor([[0.5, -1.0], [2.0, 0.25]], requires_grad=True)
    b = torch.tensor([0.5, -0.5], requires_grad=True)
    optimizer = torch.optim.SGD([w, b], lr=0.1, momentum=0.9)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2, **options)
    found = []
    for value in INPUTS:
        loss = ((torch.full((3, 2), value) @ w + b) ** 2).mean()
        scaler.scale(loss).backward()
        if unscales:
            scaler.unscale_(optimizer)
            w.grad.clamp_(-0.1, 0.1)
        scaler.step(optimizer)
        scaler.update()
        w.grad = b.grad = None
        state = scaler.state_dict()
        found.append((state["scale"], state["_growth_tracker"], *w.flatten().tolist(), *b.tolist(), loss.item()))
    return np.array(found)


@pytest.mark.oracle
@pytest.mark.parametrize("unscales", [False, True])
@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.parametrize("options", [{}, {"growth_factor": 3.0, "backoff_factor": 0.1}, {"enabled": False}])
def test_step_by_step_as_torch(is_compiled, unscales, options):
    torch = pytest.importorskip("torch")
    if not options.get("enabled", True):
        scaler, theirs = ja.amp.GradScaler(**options), torch.amp.GradScaler("cpu", **options)
        loss = ja.ones((), requires_grad=True)
        assert scaler.scale(loss) is loss and scaler.state_dict() == theirs.state_dict() == {}
        assert scaler.get_scale() == theirs.get_scale() == 1.0 and not scaler.is_enabled()
        _, optimizer, _ = prepared()
        scaler.unscale_(optimizer)
        assert scaler.step(optimizer) == "stepped"
        scaler.update()
        scaler.load_state_dict({})
        return
    expected = trained_by_torch(torch, unscales, **options)
    np.testing.assert_allclose(trained(is_compiled, unscales, **options), expected, rtol=2e-4, atol=1e-6)


def test_gradients_that_overflow_leave_everything_as_it_was():
    (w,), optimizer, scaler = prepared()
    scaler.scale((w * np.inf).sum()).backward()
    assert scaler.step(optimizer) is None and optimizer.n_calls == 0
    scaler.update()
    assert scaler.get_scale() == 2.0 and w.tolist() == [1, 1, 1]


def test_one_overflow_among_two_optimizers_makes_the_scale_smaller():
    params, _, scaler = prepared(n=2)
    first, second = Momentum(params[:1]), Momentum(params[1:])
    scaler.scale((params[0] * np.inf).sum() + params[1].sum()).backward()
    scaler.step(first)
    scaler.step(second)
    scaler.update()
    assert (first.n_calls, second.n_calls, scaler.get_scale()) == (0, 1, 2.0)


def test_the_scale_does_not_grow_to_infinity():
    (w,), optimizer, scaler = prepared()
    scaler.update(2.0**127)
    for _ in range(2):
        w.grad = ja.ones(3)
        scaler.step(optimizer)
        scaler.update()
    assert scaler.get_scale() == 2.0**127


def test_several_outputs_are_scaled():
    _, _, scaler = prepared()
    x = ja.ones(2)
    assert [t.tolist() for t in scaler.scale([x, (x, x * 2)][:1])] == [[4, 4]]
    assert [t.tolist() for t in scaler.scale((x, [x * 2]))[1]] == [[8, 8]]
    assert [t.tolist() for t in scaler.scale(iter([x]))] == [[4, 4]]
    with pytest.raises(errors.ArgumentError, match="outputs must be a Tensor or an iterable of Tensors"):
        scaler.scale(3)


def test_calls_in_the_wrong_order():
    (w,), optimizer, scaler = prepared()
    with pytest.raises(errors.ScalerOrderError, match="No inf checks were recorded for this optimizer"):
        scaler.step(optimizer)
    with pytest.raises(errors.ScalerOrderError, match="No inf checks were recorded prior to update"):
        scaler.update()
    w.grad = ja.ones(3)
    scaler.unscale_(optimizer)
    with pytest.raises(errors.ScalerOrderError, match="already been called on this optimizer"):
        scaler.unscale_(optimizer)
    with pytest.raises(errors.ScalerOrderError, match="may only be pickled"):
        pickle.dumps(scaler)
    scaler.step(optimizer)
    with pytest.raises(errors.ScalerOrderError, match="being called after step"):
        scaler.unscale_(optimizer)
    with pytest.raises(errors.ScalerOrderError, match="already been called since the last update"):
        scaler.step(optimizer)
    assert optimizer.n_calls == 1 and w.grad.tolist() == [0.25] * 3
    scaler.update()
    with pytest.raises(errors.ArgumentError, match="Closure use is not currently supported"):
        scaler.step(optimizer, closure=lambda: 0)


def test_what_cannot_be_meant():
    with pytest.raises(errors.TensorValueError, match="growth factor must be > 1"):
        ja.amp.GradScaler(growth_factor=1.0)
    with pytest.raises(errors.TensorValueError, match="backoff factor must be < 1"):
        ja.amp.GradScaler(backoff_factor=1.0)
    w = ja.ones(2, dtype=ja.float16, requires_grad=True)
    w.grad = ja.ones(2, dtype=ja.float16)
    scaler = ja.amp.GradScaler()
    with pytest.raises(errors.DtypeError, match="Attempting to unscale FP16 gradients"):
        scaler.unscale_(Momentum([w]))
    assert w.grad.tolist() == [1, 1]
    with pytest.raises(errors.ArgumentError, match="1-element"):
        scaler.update(ja.ones(2))


def test_the_state_goes_from_one_to_another():
    (w,), optimizer, scaler = prepared()
    w.grad = ja.ones(3)
    scaler.step(optimizer)
    scaler.update()
    other = ja.amp.GradScaler()
    other.load_state_dict(scaler.state_dict())
    expected = {"scale": 4.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 2, "_growth_tracker": 1}
    assert other.state_dict() == scaler.state_dict() == expected
    assert pickle.loads(pickle.dumps(scaler)).state_dict() == copy.deepcopy(scaler).state_dict() == expected
    with pytest.raises(errors.ArgumentError, match="disabled instance"):
        other.load_state_dict({})
    other.set_growth_factor(4.0), other.set_backoff_factor(0.25), other.set_growth_interval(7)
    assert (other.get_growth_factor(), other.get_backoff_factor(), other.get_growth_interval()) == (4.0, 0.25, 7)
    other.update(ja.tensor([16.0]))
    assert other.get_scale() == 16.0


def test_an_optimizer_that_looks_at_overflows_itself():
    class Fused(Momentum):
        _step_supports_amp_scaling = True

        def step(self):
            (w,), seen = self.param_groups[0]["params"], 1 - self.found_inf
            with ja.no_grad():
                w.sub_(ja.where(seen > 0, w.grad, 0))

    w = ja.ones(3, requires_grad=True)
    optimizer, scaler = Fused([w]), ja.amp.GradScaler(init_scale=4.0)
    for factor in (1.0, np.inf):
        scaler.scale((w * factor).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        w.grad = None
    assert w.tolist() == [0, 0, 0] and scaler.get_scale() == 2.0 and not hasattr(optimizer, "found_inf")


@pytest.mark.few(1)
@pytest.mark.parametrize("is_compiled", [False, True])
def test_training_in_float16_and_the_gradients_that_would_vanish(is_compiled):
    ja.manual_seed(0)
    w = ja.tensor([[1e-4, 2e-4], [3e-4, 1e-4]], requires_grad=True)
    optimizer, scaler = Momentum([w]), ja.amp.GradScaler(init_scale=2.0**14)
    kept = []

    def step(x, scales):
        with ja.autocast(dtype=ja.float16):
            y = (x @ w).float().mean() * 1e-4
        loss = scaler.scale(y) if scales else y
        loss.backward()
        if scales:
            scaler.unscale_(optimizer)
        grad = w.grad.clone()
        if scales:
            scaler.step(optimizer)
            scaler.update()
        w.grad = None
        return grad

    run = ja.compile(step) if is_compiled else step
    kept = [run(ja.full((2, 2), 1e-4), scales) for scales in (False, True)]
    assert not kept[0].any() and np.allclose(kept[1].numpy(), 5e-9, rtol=0.02)
