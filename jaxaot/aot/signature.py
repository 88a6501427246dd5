"""What an exported graph takes and returns, by name (`torch.export`'s graph signature)."""

from __future__ import annotations

import dataclasses
from typing import Any

from jaxaot._typing import PyTreeDef


@dataclasses.dataclass(frozen=True)
class BackwardSignature:
    """The gradients that an exported graph returns.

    Attributes:
      gradients_to_parameters: Output → name of the parameter whose gradient it is.
      gradients_to_user_inputs: Output → user input whose gradient it is.
      loss_output: The output that is the loss; a list of them where several were named.
    """

    gradients_to_parameters: dict[str, str]
    gradients_to_user_inputs: dict[str, str]
    loss_output: str | list[str]


@dataclasses.dataclass(frozen=True)
class GraphSignature:
    """What the inputs and outputs of an exported graph are.

    The inputs are the parameters, the buffers, the user inputs and the random inputs; the outputs are the new values of
    inputs that were written, the user outputs, the gradients, and what was left in `.grad` by a function that runs
    backward itself. A name stands for an input or output of the printed graph.

    Attributes:
      parameters: Names of the parameters, in the order of the inputs.
      buffers: Names of the buffers, in the order of the inputs.
      user_inputs: Inputs that are tensors, arrays or floats among the arguments.
      user_outputs: Outputs that the function returns, without its constants.
      inputs_to_parameters: Input → name of a parameter.
      inputs_to_buffers: Input → name of a buffer.
      buffers_to_mutate: Output → name of the buffer whose new value it is.
      parameters_to_mutate: Output → name of the parameter whose new value it is.
      user_inputs_to_mutate: Output → user input whose new value it is. It has another shape than the input where the
        function changed the tensor's metadata.
      in_spec: Tree of the arguments, `(args, kwargs)`.
      out_spec: Tree of the result.
      backward_signature: The gradients; None where none were asked for.
      input_tokens: Always empty: effects are ordered by JAX.
      output_tokens: Always empty.
      constant_outputs: Leaf of the result → its value, where it is no tensor.
      random_inputs: Seed (two uint32) and offset (uint32) of each generator that was drawn from, the last inputs.
      n_draws: For each generator by how much its offset has grown afterwards.
      gradients_to_set: Name of a parameter or user input → output that its `.grad` holds afterwards; None where it is
        cleared.
    """

    parameters: list[str]
    buffers: list[str]
    user_inputs: list[str]
    user_outputs: list[str]
    inputs_to_parameters: dict[str, str]
    inputs_to_buffers: dict[str, str]
    buffers_to_mutate: dict[str, str]
    parameters_to_mutate: dict[str, str]
    user_inputs_to_mutate: dict[str, str]
    in_spec: PyTreeDef
    out_spec: PyTreeDef
    backward_signature: BackwardSignature | None
    input_tokens: list[str] = dataclasses.field(default_factory=list)
    output_tokens: list[str] = dataclasses.field(default_factory=list)
    constant_outputs: dict[int, Any] = dataclasses.field(default_factory=dict)
    random_inputs: list[str] = dataclasses.field(default_factory=list)
    n_draws: list[int] = dataclasses.field(default_factory=list)
    gradients_to_set: dict[str, str | None] = dataclasses.field(default_factory=dict)
