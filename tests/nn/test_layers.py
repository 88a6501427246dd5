"""Every layer in every configuration of `layers.py`: against PyTorch's, and compiled against eager."""

import copy
import pickle

import jax
import numpy as np
import pytest

import jaxaot as ja
from tests.cases import each
from tests.nn.layers import LAYERS
from tests.seeds import one_in

ALL = [pytest.param(layer, id=layer.name) for layer in LAYERS]
COMPILED = [
    pytest.param(layer, id=layer.name, marks=() if layer.is_quick else pytest.mark.slow)
    for layer in LAYERS
    if not layer.is_random
]
N_STEPS = 3


def tensors(library, inputs, step=0):
    """Returns inputs of a step as tensors of a library; those that are floats require grad."""

    def made(x):
        if isinstance(x, tuple):
            return tuple(map(made, x))
        if not isinstance(x, np.ndarray):
            return x
        if x.dtype != np.float32:
            return library.tensor(x)
        return library.tensor(x * np.float32(1 - 0.1 * step)).requires_grad_()

    return [made(x) for x in inputs]


def flat(values):
    """Returns the tensors in nested tuples, in order."""
    if isinstance(values, (tuple, list)):
        return [leaf for value in values for leaf in flat(value)]
    return [values] if hasattr(values, "detach") else []


def numbers(tensor):
    return np.asarray(tensor.detach().numpy())


def loss_of(outputs):
    """Returns a number that weighs each element of the outputs by another factor."""
    total = None
    for output in flat(outputs):
        if output.requires_grad:
            term = (output.reshape(-1) * output.detach().reshape(-1).cos()).sum()
            total = term if total is None else total + term
    return total


def trained(library, layer, inputs, call=None):
    """Returns what a layer computes in some steps: outputs, gradients, and what its buffers hold after them."""
    found = []

    def run(*given):
        outputs = layer(*given)
        loss = loss_of(outputs)
        if loss is not None:
            loss.backward()
        return outputs

    run = run if call is None else call(run)
    for step in range(N_STEPS):
        given = tensors(library, inputs, step)
        outputs = run(*given)
        found += [numbers(x) for x in flat(outputs)]
        found += [numbers(x.grad) for x in (*flat(given), *layer.parameters()) if x.grad is not None]
        for parameter in layer.parameters():
            parameter.grad = None
    return [*found, *(numbers(x) for x in layer.buffers())]


def assert_close(found, expected, tolerance):
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def fixed(layer):
    """Gives the parameters of a layer other values than those with which it starts, such as ones."""
    with ja.no_grad():
        for n, parameter in enumerate(layer.parameters()):
            parameter.copy_(np.cos(np.arange(parameter.numel()) * 1.7 + n).reshape(tuple(parameter.shape)) * 0.4 + 0.1)
    return layer


# -- without PyTorch ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("case", one_in(3, COMPILED))
def test_a_compiled_layer_computes_what_the_eager_one_does(case):
    layer = fixed(case.make(ja.nn))
    other = copy.deepcopy(layer)
    compiled = []
    call = lambda run: compiled.append(ja.compile(run)) or compiled[0]
    assert_close(trained(ja, other, case.inputs, call), trained(ja, layer, case.inputs), case.tolerance)
    assert compiled[0].cache_info().misses == 1


@pytest.mark.few(2)
@pytest.mark.parametrize("case", one_in(10, ALL))
def test_a_layer_is_saved_loaded_copied_and_pickled(case):
    layer = fixed(case.make(ja.nn)).eval()
    loaded = case.make(ja.nn).eval()
    assert repr(loaded.load_state_dict(layer.state_dict())) == "<All keys matched successfully>"
    expected = [numbers(x) for x in flat(layer(*tensors(ja, case.inputs)))]
    for other in (loaded, copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert [type(x) for x in other.parameters()] == [ja.Tensor for _ in layer.parameters()]
        assert all(isinstance(x, ja.nn.Parameter) for x in other.parameters())
        assert_close([numbers(x) for x in flat(other(*tensors(ja, case.inputs)))], expected, 1e-6)


# -- against PyTorch ---------------------------------------------------------------------------------------------------


def pair(case):
    """Returns a layer of PyTorch, and the same of jaxaot with its state."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    theirs, ours = case.make(torch.nn), case.make(ja.nn)
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape))
    assert repr(ours.load_state_dict(theirs.state_dict())) == "<All keys matched successfully>"
    return torch, theirs, ours


@pytest.mark.oracle
@each("case", ALL)
def test_names_and_text_are_those_of_pytorch(case):
    _, theirs, ours = pair(case)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    assert [n for n, _ in ours.named_parameters()] == [n for n, _ in theirs.named_parameters()]
    assert [n for n, _ in ours.named_buffers()] == [n for n, _ in theirs.named_buffers()]
    assert [n for n, _ in ours.named_modules()] == [n for n, _ in theirs.named_modules()]
    assert repr(ours) == repr(theirs)


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", one_in(2, ALL))
def test_outputs_gradients_and_buffers_are_those_of_pytorch(case):
    torch, theirs, ours = pair(case)
    if case.is_random:
        theirs.eval(), ours.eval()
    assert_close(trained(ja, ours, case.inputs), trained(torch, theirs, case.inputs), case.tolerance)
    theirs.eval(), ours.eval()
    assert_close(trained(ja, ours, case.inputs), trained(torch, theirs, case.inputs), case.tolerance)


@pytest.mark.oracle
@pytest.mark.parametrize("case", COMPILED)
def test_compiled_outputs_gradients_and_buffers_are_those_of_pytorch(case):
    torch, theirs, ours = pair(case)
    found = trained(ja, ours, case.inputs, ja.compile)
    assert_close(found, trained(torch, theirs, case.inputs), case.tolerance)


def drawn(values):
    values = np.asarray(values, np.float64)
    return values.mean(), values.std(), values.min(), values.max()


@pytest.mark.oracle
@pytest.mark.parametrize(
    "make",
    [
        lambda nn: nn.Linear(300, 200),
        lambda nn: nn.Conv2d(16, 64, 5),
        lambda nn: nn.ConvTranspose1d(64, 64, 5),
        lambda nn: nn.Embedding(300, 100),
        lambda nn: nn.LSTM(64, 128),
        lambda nn: nn.GRUCell(64, 128),
        lambda nn: nn.MultiheadAttention(128, 4, add_bias_kv=True),
        lambda nn: nn.Bilinear(20, 30, 50),
    ],
)
def test_parameters_start_with_draws_from_the_distributions_of_pytorch(make):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    ja.manual_seed(0)
    theirs, ours = dict(make(torch.nn).named_parameters()), dict(make(ja.nn).named_parameters())
    for name, parameter in theirs.items():
        if parameter.numel() >= 1000:
            np.testing.assert_allclose(
                drawn(numbers(ours[name])), drawn(numbers(parameter)), rtol=0.08, atol=0.05 * float(parameter.std())
            )
        else:
            assert abs(numbers(ours[name])).max() <= abs(numbers(parameter)).max() * 1.5 + 1e-6


def test_jax_is_not_asked_for_64_bits():
    with jax.numpy_dtype_promotion("standard"):
        assert ja.nn.BatchNorm1d(2).num_batches_tracked.dtype == ja.tensor(0).dtype
