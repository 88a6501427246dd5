"""Layers that take a size from their first input."""

import pickle

import numpy as np
import pytest

import jaxaot as ja

LAYERS = {
    "linear": (lambda nn: nn.LazyLinear(3), (2, 4)),
    "conv": (lambda nn: nn.LazyConv2d(4, 3, padding=1, groups=2), (2, 4, 5, 5)),
    "conv-of-one": (lambda nn: nn.LazyConv1d(4, 3, bias=False), (2, 5)),
    "transposed": (lambda nn: nn.LazyConvTranspose1d(2, 3, stride=2), (2, 4, 5)),
    "batch-norm": (lambda nn: nn.LazyBatchNorm1d(momentum=0.3), (4, 3)),
    "instance-norm": (lambda nn: nn.LazyInstanceNorm2d(affine=True), (2, 3, 4, 4)),
}


@pytest.mark.oracle
@pytest.mark.parametrize("case", LAYERS)
def test_a_lazy_layer_becomes_that_of_pytorch(case):
    torch = pytest.importorskip("torch")
    make, shape = LAYERS[case]
    one, other, x = make(ja.nn), make(torch.nn), np.random.default_rng(0).normal(size=shape).astype(np.float32)
    other(torch.tensor(x))
    other.reset_running_stats() if hasattr(other, "reset_running_stats") else None
    one.load_state_dict(other.state_dict())
    assert type(one) is getattr(ja.nn, type(other).__name__) and repr(one) == repr(other)
    np.testing.assert_allclose(one(ja.tensor(x)).tolist(), other(torch.tensor(x)).tolist(), rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_parameters_stay_the_same_objects():
    model = ja.nn.Sequential(ja.nn.LazyLinear(3)).eval()
    weight = model[0].weight
    assert isinstance(weight, ja.nn.UninitializedParameter) and isinstance(weight, ja.nn.Parameter)
    optimizer = ja.optim.SGD(model.parameters(), lr=0.1)
    x = ja.ones(2, 4)
    model(x)
    assert type(model[0]) is ja.nn.Linear and model[0].weight is weight and not model[0].training
    assert not isinstance(weight, ja.nn.UninitializedParameter) and model[0].in_features == 4

    @ja.compile(fullgraph=True)
    def step(x):
        optimizer.zero_grad()
        loss = (model(x) - 1).square().sum()
        loss.backward()
        optimizer.step()
        return loss.detach()

    assert step(x).item() > step(x).item() and pickle.loads(pickle.dumps(model))[0].in_features == 4


def test_base_classes_have_pytorchs_places():
    modules = ja.nn.modules
    assert isinstance(ja.nn.Conv2d(1, 1, 1), modules.conv._ConvNd)
    assert isinstance(ja.nn.BatchNorm1d(1), modules.batchnorm._BatchNorm)
    assert not isinstance(ja.nn.Linear(1, 1), modules.conv._ConvNd | modules.batchnorm._BatchNorm)


def test_a_first_input_inside_of_a_whole_graph_is_refused():
    layer = ja.nn.LazyLinear(3)
    with pytest.raises(ja.errors.TraceError, match="Call the model once before"):
        ja.compile(lambda x: layer(x), fullgraph=True)(ja.ones(2, 4))
    assert type(layer) is ja.nn.LazyLinear and layer(ja.ones(2, 4)).shape == (2, 3)


def test_a_first_input_inside_of_a_compiled_function_makes_the_parameters():
    model = ja.nn.Sequential(ja.nn.LazyLinear(3), ja.nn.LazyBatchNorm1d())
    other = ja.nn.Sequential(ja.nn.LazyLinear(3), ja.nn.LazyBatchNorm1d())
    weight, x = model[0].weight, ja.arange(8.0).view(2, 4)

    @ja.compile
    def step(x):
        loss = model(x * 2).square().sum()
        loss.backward()
        return loss.detach()

    ja.manual_seed(0)
    with pytest.warns(ja.errors.RecompileWarning, match="meets its first input"):
        step(x)
    assert type(model[0]) is ja.nn.Linear and model[0].weight is weight and weight.grad.shape == (3, 4)
    misses = [(step(x), step.cache_info().misses)[1] for _ in range(3)]
    assert misses[0] == misses[-1]
    ja.manual_seed(0)
    for _ in range(4):
        other(x * 2).square().sum().backward()
    for (name, ours), theirs in zip(model.named_parameters(), other.parameters(), strict=True):
        np.testing.assert_allclose(ours.tolist(), theirs.tolist(), err_msg=name)
        np.testing.assert_allclose(ours.grad.tolist(), theirs.grad.tolist(), rtol=1e-4, atol=1e-5, err_msg=name)
