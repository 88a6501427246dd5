"""What is done to gradients and parameters of modules, against PyTorch and compiled."""

import copy
import math
import pickle

import numpy as np
import pytest

import jaxaot as ja
from jaxaot.facade.kernels import together

X = np.linspace(-1, 1, 8).reshape(2, 4).astype(np.float32)


def gradients(library, clip):
    a, b, c = (library.ones(*shape).requires_grad_() for shape in ((2, 3), (4,), (1,)))
    a.grad = library.tensor(np.linspace(-2, 3, 6).reshape(2, 3).astype(np.float32))
    b.grad = library.tensor(np.array([5, -1, 0, 2], np.float32))
    found = clip(library.nn.utils, [a, b, c])
    return [None if found is None else found.numpy(), a.grad.numpy(), b.grad.numpy(), c.grad]


CLIPS = {
    "norm": lambda utils, p: utils.clip_grad_norm_(p, 1.5),
    "norm-inf": lambda utils, p: utils.clip_grad_norm_(iter(p), 0.5, math.inf),
    "norm-1": lambda utils, p: utils.clip_grad_norm_(p, 100.0, 1, error_if_nonfinite=True),
    "value": lambda utils, p: utils.clip_grad_value_(p, 0.7),
    "total": lambda utils, p: utils.get_total_norm([x.grad for x in p[:2] if x.grad is not None], 3.0),
}


@pytest.mark.oracle
@pytest.mark.parametrize("clip", CLIPS)
def test_gradients_are_clipped_as_by_pytorch(clip):
    torch = pytest.importorskip("torch")
    for one, other in zip(gradients(ja, CLIPS[clip]), gradients(torch, CLIPS[clip]), strict=True):
        assert one is other is None or np.allclose(one, other, rtol=1e-6)


SHAPES = [(3, 4), (5,), (3, 4), (), (2, 3), (1, 5)]


def clipped(clip, change=lambda p: None, n=3):
    """Gradients of some parameters after some clips, what these returned, and how often each gradient was written."""
    rng, params, found = np.random.default_rng(0), [ja.ones(*s, requires_grad=True) for s in SHAPES], []
    for step in range(n):
        for i, p in enumerate(params):
            p.grad = None if (i + step) % 5 == 4 else ja.tensor(rng.normal(size=p.shape).astype(np.float32) * 2)
        change(params)
        found.append(clip(ja.nn.utils, params))
    gradients = [p.grad for p in params if p.grad is not None]
    written = [g._version for g in gradients]
    return [np.asarray(value) for value in (*gradients, *(t for t in found if t is not None))], written


def by_single_operations(monkeypatch, *args):
    with monkeypatch.context() as patch:
        patch.setattr(together, "may_run_programs", lambda: False)
        return clipped(*args)


def noted(params):
    """Has one gradient be a view, and another one show memory that a third one shows."""
    params[0].grad = ja.ones(8, 4)[2:5]
    params[2].grad = params[0].grad.detach()


@pytest.mark.parametrize("change", [lambda params: None, noted])
@pytest.mark.parametrize("clip", CLIPS)
def test_gradients_are_clipped_together_as_one_by_one(clip, change, monkeypatch):
    run, n_run = together.InPlace.__call__, []
    monkeypatch.setattr(together.InPlace, "__call__", lambda self, *args: n_run.append(1) or run(self, *args))
    together._programs.clear()
    together._n_kinds.clear()
    found, written = clipped(CLIPS[clip], change)
    right, as_often = by_single_operations(monkeypatch, CLIPS[clip], change)
    for a, b in zip(found, right, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)
    assert written == as_often
    assert bool(n_run) == (change is not noted and clip != "total")


def test_gradients_that_somebody_else_holds_are_clipped_and_the_held_arrays_stay():
    params = [ja.ones(2, requires_grad=True) for _ in range(3)]
    for p in params:
        p.grad = ja.full((2,), 3.0)
    arrays, views = [p.grad.jax() for p in params], [p.grad.view(2, 1) for p in params]
    ja.nn.utils.clip_grad_value_(params, 1.0)
    assert all(p.grad.tolist() == [1, 1] and v.tolist() == [[1], [1]] for p, v in zip(params, views, strict=True))
    assert all(a.tolist() == [3, 3] for a in arrays)


def test_gradients_with_a_history_and_other_bounds_are_clipped():
    params = [ja.ones(2, requires_grad=True) for _ in range(3)]
    sum((p**3).sum() for p in params).backward(create_graph=True)
    ja.nn.utils.clip_grad_norm_(params, ja.tensor(1.0))
    assert params[0].grad.requires_grad and ja.nn.utils.get_total_norm([p.grad for p in params]).item() < 1.001
    for dtype in (ja.float16, ja.bfloat16):
        some = [ja.full((2,), 4.0, dtype=dtype) for _ in range(3)]
        assert ja.nn.utils.get_total_norm(some).dtype == dtype
    assert ja.nn.utils.get_total_norm([ja.ones(2), ja.ones(2, dtype=ja.float16)]).dtype == ja.float32


def test_gradients_are_clipped_in_place():
    w = ja.ones(2, requires_grad=True)
    w.grad = gradient = ja.tensor([3.0, 4.0])
    assert ja.nn.utils.clip_grad_norm_(w, 1.0).item() == pytest.approx(5)
    assert w.grad is gradient and gradient.tolist() == pytest.approx([0.6, 0.8], rel=1e-5)
    w.grad = ja.tensor([math.nan, 1.0])
    with pytest.raises(RuntimeError, match="is non-finite"):
        ja.nn.utils.clip_grad_norm_(w, 1.0, error_if_nonfinite=True)
    assert ja.nn.utils.clip_grad_norm_([], 1.0).item() == 0


def test_parameters_are_one_vector():
    model = ja.nn.Linear(2, 1)
    vector = ja.nn.utils.parameters_to_vector(model.parameters())
    assert vector.tolist() == [*model.weight.flatten().tolist(), *model.bias.tolist()] and vector.requires_grad
    ja.nn.utils.vector_to_parameters(ja.tensor([1.0, 2.0, 3.0]), model.parameters())
    assert model.weight.tolist() == [[1, 2]] and model.bias.tolist() == [3] and model.weight.requires_grad
    with pytest.raises(TypeError, match="expected ja"):
        ja.nn.utils.vector_to_parameters([1.0], model.parameters())


# -- parametrizations --------------------------------------------------------------------------------------------------

PARAMETRIZED = {
    "weight-norm": lambda nn, p: p.weight_norm(nn.Linear(4, 3)),
    "weight-norm-conv": lambda nn, p: p.weight_norm(nn.Conv1d(2, 3, 2), dim=1),
    "spectral-norm": lambda nn, p: p.spectral_norm(nn.Linear(4, 3), n_power_iterations=2),
    "spectral-norm-transposed": lambda nn, p: p.spectral_norm(nn.ConvTranspose1d(2, 3, 2)),
    "old-weight-norm": lambda nn, p: nn.utils.weight_norm(nn.Linear(4, 3), dim=None),
    "old-weight-norm-conv": lambda nn, p: nn.utils.weight_norm(nn.Conv1d(2, 3, 2)),
    "old-spectral-norm": lambda nn, p: nn.utils.spectral_norm(nn.Linear(4, 3), n_power_iterations=2),
    "old-spectral-norm-transposed": lambda nn, p: nn.utils.spectral_norm(nn.ConvTranspose1d(2, 3, 2)),
}


def run(library, model):
    x = library.tensor(X if isinstance(model.bias.shape[0], int) and model.weight.ndim == 2 else X.reshape(1, 2, 4))
    found = []
    for _ in range(3):
        out = model(x)
        out.square().sum().backward()
        found += [out.detach().numpy(), *(p.grad.numpy() for p in model.parameters())]
        for p in model.parameters():
            p.grad = None
    return found + [b.detach().numpy() for b in model.buffers()]


@pytest.mark.oracle
@pytest.mark.parametrize("case", PARAMETRIZED)
def test_parametrized_layers_are_those_of_pytorch(case):
    torch = pytest.importorskip("torch")
    import torch.nn.utils.parametrizations as theirs

    torch.manual_seed(0)
    one = PARAMETRIZED[case](torch.nn, theirs)
    other = PARAMETRIZED[case](ja.nn, ja.nn.utils.parametrizations)
    assert list(one.state_dict()) == list(other.state_dict())
    other.load_state_dict(one.state_dict())
    for x, y in zip(run(ja, other), run(torch, one), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-3, atol=1e-4)


@pytest.mark.few(1)
@pytest.mark.parametrize("case", ["weight-norm", "spectral-norm"])
def test_a_parametrized_layer_is_compiled_copied_and_made_plain(case):
    ja.manual_seed(0)
    layer = PARAMETRIZED[case](ja.nn, ja.nn.utils.parametrizations)
    other = copy.deepcopy(layer)
    assert type(layer).__name__ == "ParametrizedLinear" and other.parametrizations is not layer.parametrizations
    step = ja.compile(lambda x: layer(x))
    for _ in range(2):
        np.testing.assert_allclose(step(ja.tensor(X)).tolist(), other(ja.tensor(X)).tolist(), rtol=1e-4, atol=1e-5)
    parametrize = ja.nn.utils.parametrize
    assert parametrize.is_parametrized(layer, "weight") and not parametrize.is_parametrized(layer, "bias")
    expected = layer.eval()(ja.tensor(X)).tolist()
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is ja.nn.Linear and set(layer.state_dict()) == {"weight", "bias"}
    np.testing.assert_allclose(layer(ja.tensor(X)).tolist(), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["weight_norm", "spectral_norm"])
def test_a_weight_of_the_old_names_is_compiled_copied_pickled_and_made_plain(kind):
    ja.manual_seed(0)
    layer = getattr(ja.nn.utils, kind)(ja.nn.Linear(4, 3))
    others = [copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))]
    assert repr(layer) == repr(ja.nn.Linear(4, 3)) and isinstance(layer, ja.nn.Linear) and "weight" not in vars(layer)
    step = ja.compile(lambda x: layer(x), fullgraph=True)
    for _ in range(2):
        found = step(ja.tensor(X)).tolist()
        for other in others:
            np.testing.assert_allclose(found, other(ja.tensor(X)).tolist(), rtol=1e-4, atol=1e-5)
    expected = layer.eval()(ja.tensor(X)).tolist()
    getattr(ja.nn.utils, f"remove_{kind}")(layer)
    assert type(layer) is ja.nn.Linear and set(layer.state_dict()) == {"weight", "bias"}
    np.testing.assert_allclose(layer(ja.tensor(X)).tolist(), expected, rtol=1e-4, atol=1e-5)
    assert len(others[0].state_dict()) > 2 and others[0].eval()(ja.tensor(X)).shape == (2, 3)
    with pytest.raises(ValueError, match=f"{kind} of 'weight' not found in Linear"):
        getattr(ja.nn.utils, f"remove_{kind}")(layer)


@pytest.mark.slow
def test_a_recurrent_layer_reads_a_computed_weight():
    layer = ja.nn.utils.weight_norm(ja.nn.RNN(4, 3), "weight_hh_l0")
    found = layer(ja.tensor(X))[0]
    found.sum().backward()
    assert layer.weight_hh_l0_g.grad.shape == (3, 1)
    plain = ja.nn.utils.remove_weight_norm(layer, "weight_hh_l0")
    np.testing.assert_allclose(plain(ja.tensor(X))[0].tolist(), found.tolist(), rtol=1e-5)


def test_a_module_is_made_without_being_filled():
    layer = ja.nn.utils.skip_init(ja.nn.Linear, 4, 3)
    assert layer.weight.shape == (3, 4) and layer.bias.device.type == "cpu" and layer.weight.requires_grad


class Symmetric(ja.nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).t()

    def right_inverse(self, x):
        return x.triu()


class Wide(ja.nn.Module):
    def forward(self, x):
        return x.repeat(1, 2)


@pytest.mark.slow
def test_a_parametrization_of_ones_own():
    layer = ja.nn.Linear(3, 3)
    parametrize = ja.nn.utils.parametrize
    parametrize.register_parametrization(layer, "weight", Symmetric())
    assert layer.weight.tolist() == layer.weight.t().tolist()
    layer.weight = ja.ones(3, 3) * 2
    assert layer.parametrizations.weight.original.tolist() == [[2, 2, 2], [0, 2, 2], [0, 0, 2]]
    assert layer.weight.tolist() == [[2] * 3] * 3
    layer(ja.ones(1, 3)).sum().backward()
    assert layer.parametrizations.weight.original.grad.tril(-1).abs().sum() == 0
    with pytest.raises(ValueError, match="may not change the shape"):
        parametrize.register_parametrization(ja.nn.Linear(2, 2), "weight", Wide())
    with pytest.raises(ValueError, match="does not have a parameter"):
        parametrize.register_parametrization(layer, "wieght", Symmetric())
    parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
    assert layer.weight.tolist() == [[2, 2, 2], [0, 2, 2], [0, 0, 2]]
