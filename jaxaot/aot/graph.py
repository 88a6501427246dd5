"""What `aot_export_module` returns: a graph on values, which archives hold with its signature."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import jax.numpy as jnp

from jaxaot import _trees as pytree
from jaxaot._jax import jaxpr_as_fun
from jaxaot._typing import PyTreeDef
from jaxaot.aot.signature import GraphSignature
from jaxaot.archive.codec import fields_of, record, to_json
from jaxaot.archive.container import Archive, write_archive
from jaxaot.archive.graphs import chosen_platforms, graph_of, graph_to_bytes, require_extra
from jaxaot.archive.kinds import header, program_in, weights_of
from jaxaot.archive.plans import types_of
from jaxaot.archive.readers import AVALS, from_json, optional
from jaxaot.errors import ArgumentError
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.flow import array_of, require_inputs
from jaxaot.ir.roles import Output, Primal
from jaxaot.ir.text import to_text
from jaxaot.passes.prepare import prepare_forward
from jaxaot.saving import arrays_to_bytes
from jaxaot.tracer.arguments import flatten_arguments, is_array_argument

_HELD = ("input_names", "output_names", "in_tree", "out_tree", "constant_outputs")
"""What the manifest of an archive says of a graph."""


@dataclasses.dataclass(frozen=True, eq=False)
class ExportedGraph:
    """A graph on values.

    Attributes:
      jaxpr: A ClosedJaxpr.
      input_names: What the printed graph calls its inputs.
      output_names: What it calls its outputs.
      example_inputs: What it was exported with, in the order of its inputs.
      in_tree: Tree of the arguments, where it is called like the function; None where it takes its inputs flat.
      out_tree: Tree of the result, likewise.
      constant_outputs: Leaf of the result → its value, where it is no tensor.
    """

    jaxpr: Any
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    example_inputs: tuple[Any, ...]
    in_tree: PyTreeDef | None = None
    out_tree: PyTreeDef | None = None
    constant_outputs: dict[int, Any] = dataclasses.field(default_factory=dict)

    def __call__(self, *inputs: object) -> Any:
        """Returns the outputs for some inputs, tensors or arrays: arrays, and nothing is changed.

        Raises:
          SignatureMismatchError: If these are not like the inputs that it was exported with.
        """
        leaves = inputs if self.in_tree is None else _dynamic(flatten_arguments(inputs, {})[0])
        values = list(map(array_of, leaves))
        require_inputs(self.jaxpr.in_avals, values)
        results = jaxpr_as_fun(self.jaxpr)(*values)
        if self.out_tree is None:
            return tuple(results)
        return pytree.unflatten(self.out_tree, _with_constants(results, self.constant_outputs))

    def save(
        self,
        path: str | os.PathLike[str],
        signature: GraphSignature | None = None,
        *,
        platforms: Sequence[str] | None = None,
    ) -> None:
        """Writes an archive of the graph and its example inputs; `ja.load(path)` returns it, with the signature.

        Args:
          path: Where.
          signature: What `aot_export_module` returned beside the graph.
          platforms: What it is to run on, as of `ja.export`.

        Raises:
          ExportError: If JAX cannot export the graph, or a tree has classes of the user.
          MissingExtraError: If flatbuffers or safetensors is not installed.
        """
        require_extra()
        chosen = chosen_platforms(platforms)
        arrays = {str(i): x if isinstance(x, Tensor) else jnp.asarray(x) for i, x in enumerate(self.example_inputs)}
        parts = {
            "graphs/graph.bin": graph_to_bytes(prepare_forward(self.jaxpr), "graph", chosen),
            "weights.safetensors": arrays_to_bytes(arrays),
        }
        manifest = {
            **header("graph", chosen),
            **{name: to_json(getattr(self, name)) for name in _HELD},
            "in_types": to_json(types_of(self.jaxpr.in_avals)),
            "signature": to_json(signature),
        }
        write_archive(path, manifest, parts)

    def __str__(self) -> str:
        in_roles = [Primal(i, name) for i, name in enumerate(self.input_names)]
        out_roles = [Output(i, name) for i, name in enumerate(self.output_names)]
        return to_text(self.jaxpr, in_roles, out_roles)


def read_archive(archive: Archive, weights: object = None) -> Any:
    """Returns the graph of an archive, with its signature if it has one."""
    if weights is not None:
        raise ArgumentError(
            f"`weights=` is for a function, and {archive.name} holds a graph, which takes them as arguments."
        )
    read = lambda name, reader: from_json(reader, archive.manifest.get(name), f"{name!r}")
    inputs = weights_of(archive)
    graph = ExportedGraph(
        jaxpr=graph_of(program_in(archive, "graphs/graph.bin", "graph"), read("in_types", AVALS), ()),
        example_inputs=tuple(jnp.asarray(inputs[str(i)]) for i in range(len(inputs))),
        **{name: read(name, fields_of(ExportedGraph)[name]) for name in _HELD},
    )
    signature = read("signature", optional(record(GraphSignature)))
    return graph if signature is None else (graph, signature)


def _dynamic(leaves: Iterable[Any]) -> list[Any]:
    return [x for x in leaves if is_dynamic(x)]


def is_dynamic(leaf: object) -> bool:
    """Returns whether a leaf of the arguments is an input of the graph."""
    return isinstance(leaf, Tensor) or is_array_argument(leaf) or type(leaf) in (float, complex)


def _with_constants(values: Sequence[Any], constants: Mapping[int, Any]) -> list[Any]:
    """Returns the leaves of a result: values, and constants at their places."""
    rest = iter(values)
    return [constants[i] if i in constants else next(rest) for i in range(len(values) + len(constants))]
