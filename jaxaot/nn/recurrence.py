"""The recurrences of `RNN`, `LSTM` and `GRU`: one step, and a row of steps as one loop of the graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn import functional
from jaxaot.transforms.control_flow import scan

_TOP: Mapping[str, Callable[..., Any]] = FUNCTIONS[""]

State = tuple[Tensor, ...]


def step(mode: str, gates: Tensor, state: State, w: Tensor, b: Tensor | None, w_hr: Tensor | None = None) -> State:
    """Returns the next state of a cell.

    Args:
      mode: `"RNN_TANH"`, `"RNN_RELU"`, `"LSTM"` or `"GRU"`.
      gates: What the input contributes, (batch, gates · hidden).
      state: The hidden state, and of an LSTM the cell's state.
      w: Takes the hidden state to the gates.
      b: Added to that.
      w_hr: Of an LSTM, takes its hidden state to a smaller one.
    """
    hidden = state[0]
    recurrent = functional.linear(hidden, w, b)
    if mode == "LSTM":
        into, forget, new, out = (gates + recurrent).chunk(4, -1)
        cell = forget.sigmoid() * state[1] + into.sigmoid() * new.tanh()
        hidden = out.sigmoid() * cell.tanh()
        return (hidden if w_hr is None else functional.linear(hidden, w_hr)), cell
    if mode == "GRU":
        reset_x, update_x, new_x = gates.chunk(3, -1)
        reset_h, update_h, new_h = recurrent.chunk(3, -1)
        reset, update = (reset_x + reset_h).sigmoid(), (update_x + update_h).sigmoid()
        new = (new_x + reset * new_h).tanh()
        return (new + update * (hidden - new),)
    total = gates + recurrent
    return (total.relu() if mode == "RNN_RELU" else total.tanh(),)


def run_direction(
    mode: str, x: Tensor, state: State, weights: Sequence[Tensor | None], reverse: bool, mask: Tensor | None = None
) -> Any:
    """Returns the hidden states of a row of steps, (time, batch, hidden), and the last state.

    Args:
      mode: See `step`.
      x: The inputs, (time, batch, features).
      state: Where it starts.
      weights: Of the input and of the hidden state, their biases, and the projection of an LSTM.
      reverse: Whether to begin at the end.
      mask: Which steps there are, (time, batch, 1); the others leave the state as it is. All by default.
    """
    w_ih, w_hh, b_ih, b_hh, w_hr = weights
    assert w_ih is not None and w_hh is not None, "a layer has both weights"
    gates = functional.linear(x, w_ih, b_ih)

    def one(state: State, gates: Tensor) -> tuple[State, Tensor]:
        after = step(mode, gates, state, w_hh, b_hh, w_hr)
        return after, after[0]

    def one_of(state: State, given: tuple[Tensor, Tensor]) -> tuple[State, Tensor]:
        after, hidden = one(state, given[0])
        return tuple(_TOP["where"](given[1], new, old) for new, old in zip(after, state, strict=True)), hidden

    last, hidden = (
        scan(one, state, gates, reverse=reverse)
        if mask is None
        else scan(one_of, state, (gates, mask), reverse=reverse)
    )
    return hidden, last


def run_layers(
    mode: str,
    x: Tensor,
    states: State,
    weights: Sequence[Sequence[Tensor | None]],
    n_directions: int,
    dropout: float,
    training: bool,
    mask: Tensor | None = None,
) -> tuple[Tensor, State]:
    """Returns the hidden states of the last layer, (time, batch, directions · hidden), and the last states of all.

    Args:
      mode: See `step`.
      x: The inputs, (time, batch, features).
      states: Where they start, (layers · directions, batch, hidden) each.
      weights: Those of each layer and direction.
      n_directions: 2 where each layer also runs from the end.
      dropout: The part of the outputs of each layer but the last that is set to zero.
      training: Whether it is.
      mask: See `run_direction`.
    """
    n_layers, lasts = len(weights) // n_directions, []
    for layer in range(n_layers):
        outputs = []
        for direction in range(n_directions):
            place = layer * n_directions + direction
            start = tuple(state[place] for state in states)
            hidden, last = run_direction(mode, x, start, weights[place], bool(direction), mask)
            outputs.append(hidden)
            lasts.append(last)
        x = outputs[0] if n_directions == 1 else _TOP["cat"](outputs, -1)
        if dropout and layer < n_layers - 1:
            x = functional.dropout(x, dropout, training)
    return x, tuple(_TOP["stack"](list(parts)) for parts in zip(*lasts, strict=True))


def _cell(mode: str, what: str) -> Callable[..., Tensor]:
    def cell(
        input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
    ) -> Tensor:
        return step(mode, functional.linear(input, w_ih, b_ih), (hx,), w_hh, b_hh)[0]

    cell.__doc__ = f"Returns the next hidden state of {what}, of its input, its state, its weights and biases."
    return cell


gru_cell = _cell("GRU", "a GRU")
rnn_tanh_cell = _cell("RNN_TANH", "a recurrence with tanh")
rnn_relu_cell = _cell("RNN_RELU", "a recurrence with relu")


def lstm_cell(
    input: Tensor,
    hx: Sequence[Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> State:
    """Returns the next hidden state and cell state of an LSTM.

    Args:
      input: (batch, features).
      hx: Its hidden state and cell state.
      w_ih: Takes the input to the gates.
      w_hh: Takes the hidden state to the gates.
      b_ih: Added to the first.
      b_hh: Added to the second.
    """
    return step("LSTM", functional.linear(input, w_ih, b_ih), tuple(hx), w_hh, b_hh)
