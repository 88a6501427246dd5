"""`annotate()` says of each equation what its types say, and `explain` prints it beside the graph."""

import jax
import jax.numpy as jnp

import jaxaot as ja
from jaxaot.ir.cost import graph_flops


def stages():
    fn = lambda w, x: jnp.tanh(x @ w).sum()
    types = jax.ShapeDtypeStruct((3, 5), jnp.float32), jax.ShapeDtypeStruct((7, 3), jnp.bfloat16)
    traced = ja.trace(fn, *types)
    return traced, traced.joint(), traced.joint().partition("save_all")


def test_notes_say_shape_dtype_bytes_and_flops():
    traced, joint, _ = stages()
    dot = next(note for note in traced.annotate() if note.name == "dot_general")
    assert (dot.shapes, dot.dtypes, dot.bytes, dot.flops) == (((7, 5),), ("float32",), 140, 210)
    assert dot.side == "traced" and dot.is_saved is None and dot.source.startswith("test_annotated.py:")
    assert sum(note.flops for note in joint.annotate()) == graph_flops(joint.jaxpr.jaxpr)
    assert len(joint.annotate()) == len(joint.jaxpr.jaxpr.eqns)


def test_notes_of_a_partition_say_what_is_saved():
    *_, partition = stages()
    notes = partition.annotate()
    assert [note.side for note in notes] == sorted((note.side for note in notes), reverse=True)
    assert sum(note.bytes for note in notes if note.is_saved) == partition.saved_bytes > 0
    assert not any(note.is_saved for note in notes if note.side == "backward")


def test_sizes_are_exact():
    big = jax.ShapeDtypeStruct((10**10, 10**10), jnp.float32)
    (note,) = ja.trace(lambda x: x * 2, big).annotate()
    assert note.bytes == 4 * 10**20 and note.flops == 10**20


def test_explain_prints_notes_beside_the_graph():
    traced = ja.trace(lambda w, x: (x @ w).tanh().sum(), ja.zeros(3, 5, requires_grad=True), ja.zeros(7, 3))
    text = str(ja.explain(traced))
    lines = [line for line in text.splitlines() if "= dot_general" in line]
    assert lines[0].endswith("140 B, 210 FLOP") and "test_annotated.py" in lines[0]
    assert any(line.endswith("saved") for line in text.splitlines())
    assert "FLOP" not in str(traced)
