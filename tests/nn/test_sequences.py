"""Sequences of several lengths, padded and packed, against PyTorch and compiled."""

import numpy as np
import pytest

import jaxaot as ja
from jaxaot.nn.utils import rnn

LENGTHS = [2, 4, 1]
ROWS = [np.linspace(-1, 1, n * 3).reshape(n, 3).astype(np.float32) for n in LENGTHS]

USES = {
    "pad": lambda rnn, rows: [rnn.pad_sequence(rows, padding_value=7.0)],
    "pad-batch-first-left": lambda rnn, rows: [rnn.pad_sequence(rows, True, padding_side="left")],
    "unpad": lambda rnn, rows: rnn.unpad_sequence(rnn.pad_sequence(rows, True), rows[0].new_tensor(LENGTHS), True),
    "pack": lambda rnn, rows: rnn.pack_sequence(rows, enforce_sorted=False),
    "pack-sorted": lambda rnn, rows: [x for x in rnn.pack_sequence([rows[1], rows[0], rows[2]]) if x is not None],
    "unpack": lambda rnn, rows: rnn.unpack_sequence(rnn.pack_sequence(rows, enforce_sorted=False)),
    "total": lambda rnn, rows: rnn.pad_packed_sequence(rnn.pack_sequence(rows, False), True, -1.0, total_length=6),
}


@pytest.mark.oracle
@pytest.mark.parametrize("use", USES)
def test_sequences_are_those_of_pytorch(use):
    torch = pytest.importorskip("torch")
    found = USES[use](rnn, [ja.tensor(row) for row in ROWS])
    expected = USES[use](torch.nn.utils.rnn, [torch.tensor(row) for row in ROWS])
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())


def layers(library, rnn, kind, bidirectional, weights=None):
    layer = getattr(library.nn, kind)(3, 2, num_layers=2, bidirectional=bidirectional, batch_first=True)
    with library.no_grad():
        for i, parameter in enumerate(layer.parameters()):
            parameter.copy_(library.tensor(np.cos(np.arange(parameter.numel()) + i).reshape(parameter.shape)))
    x = rnn.pad_sequence([library.tensor(row) for row in ROWS], True).requires_grad_()
    start = library.ones(2 * (1 + bidirectional), 3, 2) * library.arange(3)[:, None] / 3

    def step(x):
        packed = rnn.pack_padded_sequence(x, LENGTHS, True, enforce_sorted=False)
        out, last = layer(packed, (start, start) if kind == "LSTM" else start)
        padded, lengths = rnn.pad_packed_sequence(out, True)
        last = list(last) if kind == "LSTM" else [last]
        sum([y.square().sum() for y in last], padded.square().sum()).backward()
        return [padded, lengths, *last, *(p.grad for p in layer.parameters())]

    return step, x


@pytest.mark.oracle
@pytest.mark.parametrize(("kind", "both"), [("LSTM", True), ("GRU", False), ("RNN", True)])
def test_recurrent_layers_of_packed_sequences_are_those_of_pytorch(kind, both):
    torch = pytest.importorskip("torch")
    found, expected = (
        [x.detach().numpy() for x in (*step(x), x.grad)]
        for step, x in (layers(ja, rnn, kind, both), layers(torch, torch.nn.utils.rnn, kind, both))
    )
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_packed_sequences_are_compiled_with_gradients():
    step, x = layers(ja, rnn, "GRU", True)
    found = [y.detach().numpy() for y in ja.compile(step, fullgraph=True)(x)]
    step, x = layers(ja, rnn, "GRU", True)
    for one, other in zip(found, step(x), strict=True):
        np.testing.assert_allclose(one, other.detach().numpy(), rtol=1e-4, atol=1e-5)


def states(layer, row, end=""):
    """Returns the states of a plain recurrent layer, by NumPy."""
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    w, u, b, c = (getattr(layer, name + end).detach().numpy() for name in names)
    found = [np.zeros(len(b), np.float32)]
    for x in row:
        found.append(np.tanh(w @ x + b + u @ found[-1] + c))
    return np.stack(found[1:])


@pytest.mark.slow
def test_a_packed_sequence_gives_what_it_gives_alone():
    layer = ja.nn.RNN(3, 2, bidirectional=True)

    @ja.compile(fullgraph=True)
    def run(rows):
        out, last = layer(rnn.pack_sequence(rows, enforce_sorted=False))
        return rnn.pad_packed_sequence(out, True)[0], last

    out, last = run([ja.tensor(row) for row in ROWS])
    for i, row in enumerate(ROWS):
        there, back = states(layer, row), states(layer, row[::-1], "_reverse")[::-1]
        np.testing.assert_allclose(out[i, : len(row)].detach().numpy(), np.hstack([there, back]), atol=1e-5)
        np.testing.assert_allclose(last[:, i].detach().numpy(), [there[-1], back[0]], atol=1e-5)


def test_a_step_that_pads_is_compiled_with_gradients():
    w = ja.ones(3, requires_grad=True)

    @ja.compile(fullgraph=True)
    def step(rows):
        return (rnn.pad_sequence([row * w for row in rows], padding_value=1.0) ** 2).sum()

    rows = [ja.tensor(row) for row in ROWS]
    loss = step(rows)
    assert loss.item() == pytest.approx(sum((row**2).sum() for row in ROWS) + 15, rel=1e-5)
    loss.backward()
    np.testing.assert_allclose(w.grad.numpy(), 2 * sum((row**2).sum(0) for row in ROWS), rtol=1e-5)


def test_what_does_not_fit_says_so():
    rows = [ja.ones(2, 3), ja.ones(4, 3)]
    with pytest.raises(RuntimeError, match="`lengths` array must be sorted in decreasing order"):
        rnn.pack_sequence(rows)
    with pytest.raises(RuntimeError, match="differ in their lengths alone"):
        rnn.pad_sequence([ja.ones(2, 3), ja.ones(2, 4)])
    with pytest.raises(RuntimeError, match="greater than 0"):
        rnn.pack_padded_sequence(ja.ones(4, 2, 3), [3, 0])
    with pytest.raises(RuntimeError, match="4 were given"):
        rnn.pack_padded_sequence(ja.ones(4, 2, 3), [5, 1])
    with pytest.raises(ValueError, match="at least the length of the longest"):
        rnn.pad_packed_sequence(rnn.pack_sequence(rows, False), total_length=2)
    with pytest.raises(TypeError, match="Expected iterable for input sequences"):
        rnn.pad_sequence([])
