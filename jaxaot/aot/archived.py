"""Graphs of `aot_export_module` in archives: what is written, and what comes back."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from typing import Any

import jax

from jaxaot._versions import JAXAOT
from jaxaot.aot.signature import BackwardSignature, GraphSignature
from jaxaot.archive.container import Archive, write_archive
from jaxaot.archive.graphs import chosen_platforms, graph_of, graph_to_bytes, program_from_bytes, require_extra
from jaxaot.archive.kinds import weights_of
from jaxaot.archive.readers import (
    AVALS,
    INT,
    PLAIN,
    TEXT,
    TREE,
    each,
    from_json,
    many,
    optional,
    plain_to_json,
    table,
    tree_to_json,
)
from jaxaot.facade.memory.tensor import Tensor
from jaxaot.passes.prepare import prepare_forward
from jaxaot.saving import arrays_to_bytes

_TABLE = table(TEXT, optional(TEXT))
_SIGNATURE = {
    "parameters": many(TEXT), "buffers": many(TEXT), "user_inputs": many(TEXT), "user_outputs": many(TEXT),
    "inputs_to_parameters": _TABLE, "inputs_to_buffers": _TABLE, "buffers_to_mutate": _TABLE,
    "parameters_to_mutate": _TABLE, "user_inputs_to_mutate": _TABLE, "random_inputs": many(TEXT),
    "gradients_to_set": _TABLE,
}  # fmt: skip
"""The fields of a `GraphSignature` that are names, and tables of names."""
_CONSTANTS = many(each(INT, PLAIN))


def _loss(value: Any) -> Any:
    return TEXT(value) if type(value) is str else list(many(TEXT)(value))


def save_graph(
    graph: Any, signature: GraphSignature | None, path: str | os.PathLike[str], platforms: Sequence[str] | None
) -> None:
    """Writes a graph, its example inputs and its signature.

    Args:
      graph: An `ExportedGraph`.
      signature: What its slots are; None if it is called like the function.
      path: Where.
      platforms: What it is to run on; None for what this process runs on.
    """
    require_extra()
    chosen = chosen_platforms(platforms)
    examples = [x.detach() if isinstance(x, Tensor) else x for x in graph.example_inputs]
    arrays = {str(i): jax.numpy.asarray(x) if not isinstance(x, Tensor) else x for i, x in enumerate(examples)}
    parts = {
        "graphs/graph.bin": graph_to_bytes(prepare_forward(graph.jaxpr), "graph", chosen),
        "weights.safetensors": arrays_to_bytes(arrays),
    }
    manifest = {
        "kind": "graph",
        "written_by": {"jaxaot": JAXAOT, "jax": jax.__version__},
        "platforms": list(chosen),
        "devices": 1,
        "x64": bool(jax.config.jax_enable_x64),
        "input_names": list(graph.input_names),
        "output_names": list(graph.output_names),
        "in_types": [[str(aval.dtype), list(aval.shape)] for aval in graph.jaxpr.in_avals],
        "in_tree": None if graph.in_tree is None else {"is": "tree", "of": tree_to_json(graph.in_tree)},
        "out_tree": None if graph.out_tree is None else {"is": "tree", "of": tree_to_json(graph.out_tree)},
        "constants": _constants(graph.constant_outputs),
        "signature": None if signature is None else _signature_to_json(signature),
    }
    write_archive(path, manifest, parts)


def _constants(constants: Any) -> list[Any]:
    return [[i, plain_to_json(value)] for i, value in constants.items()]


def _signature_to_json(signature: GraphSignature) -> dict[str, Any]:
    backward = signature.backward_signature
    return {
        **{name: getattr(signature, name) for name in _SIGNATURE},
        "in_spec": {"is": "tree", "of": tree_to_json(signature.in_spec)},
        "out_spec": {"is": "tree", "of": tree_to_json(signature.out_spec)},
        "constants": _constants(signature.constant_outputs),
        "n_draws": signature.n_draws,
        "backward": None if backward is None else dataclasses.asdict(backward),
    }


def read_graph(make: Any, archive: Archive) -> Any:
    """Returns a graph and its signature.

    Args:
      make: Makes an `ExportedGraph` of its fields.
      archive: The archive.

    Raises:
      ArchiveError: If it is damaged.
    """
    manifest = archive.manifest
    read = lambda name, reader: from_json(reader, manifest.get(name), f"{name!r}")
    writer = manifest.get("written_by")
    version = writer.get("jax", "of another version") if type(writer) is dict else "of another version"
    made = program_from_bytes(archive.part("graphs/graph.bin"), "graph", str(version))
    weights = weights_of(archive)
    constants = read("constants", _CONSTANTS)
    graph = make(
        jaxpr=graph_of(made, read("in_types", AVALS), ()),
        input_names=read("input_names", many(TEXT)),
        output_names=read("output_names", many(TEXT)),
        example_inputs=tuple(jax.numpy.asarray(weights[str(i)]) for i in range(len(weights))),
        in_tree=read("in_tree", optional(TREE)),
        out_tree=read("out_tree", optional(TREE)),
        constant_outputs=dict(constants),
    )
    signature = manifest.get("signature")
    return graph if signature is None else (graph, from_json(_signature, signature, "the signature"))


def _signature(value: Any) -> GraphSignature:
    """Reads a signature."""
    held = table(TEXT, lambda x: x)(value)
    names: Any = {name: read(held.get(name)) for name, read in _SIGNATURE.items()}
    names = {name: list(found) if isinstance(found, tuple) else found for name, found in names.items()}
    backward = held.get("backward")
    if backward is not None:
        given = table(TEXT, lambda x: x)(backward)
        parameters, inputs = (_TABLE(given.get(f"gradients_to_{kind}")) for kind in ("parameters", "user_inputs"))
        backward = BackwardSignature(parameters, inputs, _loss(given.get("loss_output")))  # type: ignore[arg-type]
    return GraphSignature(
        **names,
        in_spec=TREE(held.get("in_spec")),
        out_spec=TREE(held.get("out_spec")),
        constant_outputs=dict(_CONSTANTS(held.get("constants"))),
        n_draws=list(many(INT)(held.get("n_draws"))),
        backward_signature=backward,
    )
