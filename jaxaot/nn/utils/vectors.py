"""Parameters as one vector (`torch.nn.utils.parameters_to_vector`)."""

from __future__ import annotations

from collections.abc import Iterable

from jaxaot.errors import TensorTypeError
from jaxaot.facade.members.methods import FUNCTIONS
from jaxaot.facade.memory.tensor import Tensor


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Returns the elements of all parameters, one after the other."""
    return FUNCTIONS[""]["cat"]([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Puts the elements of a vector into parameters, which from then on show its memory, as in PyTorch."""
    if not isinstance(vec, Tensor):
        raise TensorTypeError(f"expected ja.Tensor, but got: {type(vec).__name__}")
    place = 0
    for parameter in parameters:
        n = parameter.numel()
        parameter.data = vec[place : place + n].view_as(parameter).data
        place += n
