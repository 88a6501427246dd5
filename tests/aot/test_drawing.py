"""Graphs drawn into files."""

import shutil

import jax.numpy as jnp
import pytest

import jaxaot as ja


def test_the_description_has_a_box_for_each_equation(tmp_path):
    traced = ja.trace(lambda x, y: (jnp.sin(x) * y, 3.0, x), jnp.ones(3), jnp.ones(3))
    path = tmp_path / "fn.dot"
    ja.aot.draw_graph(traced, str(path), "a title")
    text = path.read_text()
    assert text.startswith('digraph "a title" {')
    assert text.count("[label=") == 2 + len(traced.jaxpr.eqns) + len(traced.jaxpr.out_avals)
    assert "sin: f32[3]" in text
    assert "input0 -> eqn0;" in text
    ja.aot.draw_graph(traced.joint(), str(path))
    assert "mul: f32[3]" in path.read_text()
    ja.aot.draw_graph(traced.jaxpr, str(path))
    assert path.read_text().replace('"graph"', '"a title"') == text


def test_a_picture_needs_graphviz(tmp_path):
    graph = ja.trace(lambda x: x * 2, jnp.ones(3))
    path = tmp_path / "fn"
    if shutil.which("dot") is None:
        with pytest.raises(ja.errors.MissingExtraError, match=r"needs the program `dot`.*fn.dot"):
            ja.aot.draw_graph(graph, str(path))
    else:
        ja.aot.draw_graph(graph, str(path))
        assert b"<svg" in path.with_suffix(".svg").read_bytes()
