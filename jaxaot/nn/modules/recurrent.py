"""Recurrent layers and their cells (`torch.nn.RNN`, `LSTM`, `GRU`)."""

from __future__ import annotations

import math
from typing import Any, TypeVar

from jaxaot._typing import DTypeLike
from jaxaot.errors import TensorTypeError
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.nn import functional, init
from jaxaot.nn.made import arguments, blank, changed, check
from jaxaot.nn.modules.module import Module
from jaxaot.nn.packed import PackedSequence, mask_of, padded
from jaxaot.nn.parameter import Parameter
from jaxaot.nn.recurrence import run_layers, step

_Sequences = TypeVar("_Sequences", Tensor, PackedSequence)

_N_GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "GRU": 3, "LSTM": 4}


def _pair(hx: Any) -> Any:
    return tuple(hx) if isinstance(hx, (tuple, list)) else hx


def _check_given(mode: str, input: Any, states: Any, n: int) -> None:
    """Raises unless a layer is called with a tensor, and with `n` of them as its state, if it is given."""
    if not isinstance(input, Tensor):
        raise TensorTypeError(f"{mode}: argument 'input' must be Tensor, not {type(input).__name__}")
    if states is None:
        return
    wanted = "a pair of tensors, `(h_0, c_0)`" if n == 2 else "one tensor, `h_0`"
    given = states if isinstance(states, tuple) else (states,)
    if len(given) != n or not all(isinstance(state, Tensor) for state in given):
        kinds = ", ".join(type(state).__name__ for state in given)
        raise TensorTypeError(f"{mode}: the state is {wanted}, and what was given is of type {kinds}.")


class RNNBase(Module):
    """Several layers of a recurrence, in one direction or in both."""

    _computed: tuple[str, ...] = ()  # names of weights that `nn.utils.weight_norm` and its kin made properties

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: object = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        check(mode in _N_GATES, f"Unrecognized RNN mode: {mode}")
        check(0 <= dropout <= 1, "dropout should be a number in range [0, 1]")
        check(input_size > 0, "input_size must be greater than zero")
        check(hidden_size > 0, "hidden_size must be greater than zero")
        check(num_layers > 0, "num_layers must be greater than zero")
        check(0 <= proj_size < hidden_size, "proj_size has to be smaller than hidden_size")
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        n_directions, n_rows = 1 + bidirectional, _N_GATES[mode] * hidden_size
        n_hidden = proj_size or hidden_size
        for layer in range(num_layers):
            for suffix in ("", "_reverse")[:n_directions]:
                end = f"_l{layer}{suffix}"
                n_inputs = n_hidden * n_directions if layer else input_size
                self.register_parameter(f"weight_ih{end}", blank((n_rows, n_inputs), device, dtype))
                self.register_parameter(f"weight_hh{end}", blank((n_rows, n_hidden), device, dtype))
                if bias:
                    self.register_parameter(f"bias_ih{end}", blank((n_rows,), device, dtype))
                    self.register_parameter(f"bias_hh{end}", blank((n_rows,), device, dtype))
                if proj_size:
                    self.register_parameter(f"weight_hr{end}", blank((proj_size, hidden_size), device, dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws the parameters anew."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def flatten_parameters(self) -> None:
        """Does nothing; PyTorch moves the weights together for cuDNN."""

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters of each layer and direction."""
        kept = [[w for w in row if w is not None] for row in self._weights()]
        return kept  # type: ignore[return-value]

    def _weights(self) -> list[list[Tensor | None]]:
        ends = [f"_l{layer}{suffix}" for layer in range(self.num_layers) for suffix in ("", "_reverse")]
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
        found = {**self._parameters, **{name: getattr(self, name) for name in self._computed}}
        return [[found.get(name + end) for name in names] for end in ends if f"weight_ih{end}" in found]

    def _run(self, input: Any, states: tuple[Tensor, ...] | None) -> tuple[Any, tuple[Tensor, ...]]:
        if isinstance(input, PackedSequence):
            return self._run_packed(input, states)
        _check_given(self.mode, input, states, 2 if self.mode == "LSTM" else 1)
        is_batched = input.ndim == 3
        check(input.ndim in (2, 3), f"{self.mode}: Expected input to be 2D or 3D, got {input.ndim}D tensor instead")
        check(
            input.shape[-1] == self.input_size,
            f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.shape[-1]}",
        )
        if not is_batched:
            input = input.unsqueeze(1)
            states = None if states is None else tuple(state.unsqueeze(1) for state in states)
        elif self.batch_first:
            input = input.transpose(0, 1)
        output, after = self._run_layers(input, states)
        if not is_batched:
            return output.squeeze(1), tuple(state.squeeze(1) for state in after)
        return (output.transpose(0, 1) if self.batch_first else output), after

    def _run_packed(self, input: PackedSequence, states: tuple[Tensor, ...] | None) -> Any:
        """Runs sequences of several lengths padded, with steps left out where there is none."""
        _check_given(self.mode, input.data, states, 2 if self.mode == "LSTM" else 1)
        check(
            input.data.ndim == 2 and input.data.shape[-1] == self.input_size,
            f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.data.shape[-1]}",
        )
        if states is not None and input.sorted_indices is not None:
            states = tuple(state.index_select(1, input.sorted_indices) for state in states)
        output, after = self._run_layers(padded(input), states, mask_of(input))
        if input.unsorted_indices is not None:
            after = tuple(state.index_select(1, input.unsorted_indices) for state in after)
        return input.with_data(output[input.places]), after

    def _run_layers(
        self, input: Tensor, states: tuple[Tensor, ...] | None, mask: Tensor | None = None
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        n_directions = 2 if self.bidirectional else 1
        sizes = [self.proj_size or self.hidden_size, self.hidden_size][: 2 if self.mode == "LSTM" else 1]
        shapes = [(self.num_layers * n_directions, input.shape[1], size) for size in sizes]
        if states is None:
            states = tuple(input.new_zeros(shape) for shape in shapes)
        for state, shape in zip(states, shapes, strict=True):
            check(tuple(state.shape) == shape, f"Expected hidden size {shape}, got {list(state.shape)}")
        options = (self._weights(), n_directions, self.dropout, self.training, mask)
        return run_layers(self.mode, input, states, *options)

    def extra_repr(self) -> str:
        plain = {
            "proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0, "bidirectional": False
        }  # fmt: skip
        return f"{self.input_size}, {self.hidden_size}" + changed(self, plain)


class _OneState(RNNBase):
    def forward(self, input: _Sequences, hx: Tensor | None = None) -> tuple[_Sequences, Tensor]:
        """Returns the hidden states of the last layer at each step, and the last ones of all layers."""
        output, (hidden,) = self._run(input, None if hx is None else (hx,))
        return output, hidden


class RNN(_OneState):
    """Layers of `tanh(x @ w_ih.T + b_ih + h @ w_hh.T + b_hh)`."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: object = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        check(nonlinearity in ("tanh", "relu"), f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        options = arguments(locals())
        super().__init__(f"RNN_{options.pop('nonlinearity').upper()}", **options)
        self.nonlinearity = nonlinearity


class GRU(_OneState):
    """Layers of gated recurrent units."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: object = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__("GRU", **arguments(locals()))


class LSTM(RNNBase):
    """Layers of long short-term memory."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: object = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__("LSTM", **arguments(locals()))

    def forward(
        self, input: _Sequences, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[_Sequences, tuple[Tensor, Tensor]]:
        """Returns the hidden states of the last layer at each step, and the last hidden and cell states of all."""
        output, (hidden, cell) = self._run(input, _pair(hx))
        return output, (hidden, cell)


class _Cell(Module):
    weight_ih: Parameter
    weight_hh: Parameter
    bias_ih: Parameter | None
    bias_hh: Parameter | None

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, n_gates: int, device: object, dtype: DTypeLike | None
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        self.weight_ih = blank((n_gates * hidden_size, input_size), device, dtype)
        self.weight_hh = blank((n_gates * hidden_size, hidden_size), device, dtype)
        self.register_parameter("bias_ih", blank((n_gates * hidden_size,), device, dtype) if bias else None)
        self.register_parameter("bias_hh", blank((n_gates * hidden_size,), device, dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws the parameters anew."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def _step(self, mode: str, input: Tensor, states: tuple[Tensor, ...] | None) -> tuple[Tensor, ...]:
        _check_given(f"{mode}Cell", input, states, 2 if mode == "LSTM" else 1)
        check(input.ndim in (1, 2), f"{mode}Cell: Expected input to be 1D or 2D, got {input.ndim}D instead")
        if states is None:
            zeros = input.new_zeros((*input.shape[:-1], self.hidden_size))
            states = (zeros, zeros)
        gates = functional.linear(input, self.weight_ih, self.bias_ih)
        return step(mode, gates, states, self.weight_hh, self.bias_hh)

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}" + changed(self, {"bias": True})


class RNNCell(_Cell):
    """One step of an `RNN`."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: object = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        check(nonlinearity in ("tanh", "relu"), f"Unknown nonlinearity: {nonlinearity}")
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Returns the next hidden state."""
        return self._step(f"RNN_{self.nonlinearity.upper()}", input, None if hx is None else (hx,))[0]

    def extra_repr(self) -> str:
        return super().extra_repr() + changed(self, {"nonlinearity": "tanh"})


class _GatedCell(_Cell):
    _n_gates: int

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: object = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, self._n_gates, device, dtype)


class LSTMCell(_GatedCell):
    """One step of an `LSTM`."""

    _n_gates = 4

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """Returns the next hidden state and the next state of the cell."""
        hidden, cell = self._step("LSTM", input, _pair(hx))
        return hidden, cell


class GRUCell(_GatedCell):
    """One step of a `GRU`."""

    _n_gates = 3

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Returns the next hidden state."""
        return self._step("GRU", input, None if hx is None else (hx,))[0]
