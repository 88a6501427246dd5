"""Each pass is declared once, and the README's table says what is declared."""

import importlib
import pathlib
import re

import jax
import jax.numpy as jnp
import pytest

import jaxaot as ja
from jaxaot.backend import cpu
from jaxaot.backend.cpu.machine import using
from jaxaot.backend.cpu.pipeline import KEEP_FREED_MEMORY, SHARDS, SUBPROGRAMS
from jaxaot.ir.rewrite import inline
from jaxaot.passes.declared import FromModule, On, Pass, chosen
from jaxaot.passes.pipeline import (
    declared_passes,
    default_passes,
    joint_passes,
    lowered_passes,
    passes_on,
    run_passes,
    without_switches,
)
from tests.cases import each
from tests.declared import IN_ORDER

ROOM = pathlib.Path(cpu.__file__).parent
DECLARED = {declared.name: declared for declared in declared_passes() if On.LOWERED & declared.on}
RUNS = {
    (True, On.LOWERED): "everywhere",
    (True, On.LOWERED | On.CUT): "everywhere, before a cut too",
    (False, On.LOWERED): "by name",
    (False, On.WHOLE | On.SHARD): "by name, not eagerly",
    (True, On.WHOLE | On.KERNEL): "not in shards",
    (True, On.WHOLE | On.SHARD): "not eagerly",
    (True, On.WHOLE): "not eagerly, not in shards",
}


def table():
    """Returns the cells of the README's rows, by pass, in order."""
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", (ROOM / "README.md").read_text(), re.M)
    return {name: cells.split(" | ") for name, cells in rows}


def test_the_table_has_the_passes_in_order():
    assert list(table()) == list(dict.fromkeys(IN_ORDER)) == list(DECLARED)


@each("name", DECLARED)
def test_a_row_says_what_is_declared(name):
    declared, (runs, does, instead, gain, files) = DECLARED[name], table()[name]
    assert runs == RUNS[declared.is_default, declared.on]
    assert all((does, instead, gain))
    found = [
        ROOM / file if (ROOM / file).exists() else ROOM.parents[1] / file for file in re.findall(r"`(\S+)`", files)
    ]
    assert all(file.exists() for file in found)
    if declared.function is not None:
        assert pathlib.Path(importlib.import_module(declared.function.__module__).__file__) == found[0]


def test_every_rewrite_of_the_room_is_in_the_table():
    listed = "".join(cells[-1] for cells in table().values())
    rooms = ("attention", "convolutions", "kernels", "products")
    files = [path for room in rooms for path in (ROOM / room).glob("*.py") if path.stem != "__init__"]
    assert [path.name for path in files if f"`{path.relative_to(ROOM)}`" not in listed] == []


def test_names_are_declared_with_one_function_each():
    for declared in declared_passes():
        assert {other.function for other in declared_passes() if other.name == declared.name} == {declared.function}


def test_what_runs_on_which_graphs():
    on = {kind: lowered_passes(None, "cpu", on=kind) for kind in (On.COMPILED, On.JITTED, On.KERNEL, On.SHARD)}
    assert on[On.COMPILED] == on[On.JITTED]
    assert set(on[On.JITTED]) - set(on[On.KERNEL]) == {SHARDS, SUBPROGRAMS, KEEP_FREED_MEMORY}
    assert set(on[On.JITTED]) - set(on[On.SHARD]) == {SHARDS, "eigen_convolutions"}
    assert passes_on(on[On.JITTED], On.SHARD) == on[On.SHARD]


def test_what_a_pass_needs_has_to_be_there():
    assert lowered_passes((KEEP_FREED_MEMORY, "hold"), "cpu") == ("hold",)
    assert lowered_passes((KEEP_FREED_MEMORY, SUBPROGRAMS), "cpu") == (SUBPROGRAMS, KEEP_FREED_MEMORY)


def test_by_platform_by_name_and_by_rounding():
    passes = (
        Pass("a", None, On.JOINT | On.KERNEL),
        Pass("b", None, On.KERNEL, ("tpu",), is_exact=False),
        Pass("c", None, On.KERNEL, is_default=False),
    )
    names = lambda *how: [found.name for found in chosen(passes, *how)]
    assert names(On.KERNEL, "tpu", None, False) == ["a", "b"]
    assert names(On.KERNEL, "tpu", None, True) == names(On.KERNEL, "cpu", None, False) == ["a"]
    assert names(On.KERNEL, "cpu", ("c", "b"), False) == ["b", "c"]
    assert names(On.JOINT, "cpu", ("c", "b", "a"), False) == ["a"]


@pytest.mark.parametrize("left_out", ["flatten_dots", "drop_zero_sums", "subprograms"])
def test_one_pass_is_left_out(left_out):
    passes = [name for name in default_passes() if name != left_out]
    with ja.config(passes=passes) as settings:
        lowered, joint = lowered_passes(settings.passes, "cpu"), joint_passes(settings.passes)
    gone = {left_out} | ({KEEP_FREED_MEMORY} if left_out == SUBPROGRAMS else set())
    assert lowered == tuple(name for name in lowered_passes(None, "cpu") if name not in gone)
    assert joint == tuple(name for name in joint_passes(None) if name != left_out)


def test_all_defaults_by_name_are_the_defaults():
    assert lowered_passes(default_passes(), "cpu") == lowered_passes(None, "cpu")
    assert joint_passes(default_passes()) == joint_passes(None)


GRAPHS = [
    (lambda x: jnp.tanh(x).sum(0), 1),
    (lambda x, y: jax.nn.softmax(x @ y) @ y, 2),
    (lambda x: jnp.sort(jnp.sin(x), 0), 1),
    (lambda x: jnp.where(jnp.cumsum(x, 0) > 1, x.T, 0.0), 1),
    (lambda x: x.at[jnp.arange(8), 0].add(1.0), 1),
    (lambda x, y: jax.lax.conv_general_dilated(x[None, None], y[None, None], (1, 1), "SAME"), 2),
    (lambda x: jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (2, 2), (2, 2), "VALID"), 1),
    (lambda x: x + jax.random.uniform(jax.random.key(0), (8, 8)), 1),
    (lambda x: jax.lax.scan(lambda c, row: (c + row, c), x[0], x)[1], 1),
]


def test_a_graph_without_what_a_pass_looks_for_is_left_as_it_is():
    graphs = [inline(jax.make_jaxpr(fn)(*[jnp.ones((8, 8))] * n), also_custom=True) for fn, n in GRAPHS]
    looked_for = {name for declared in DECLARED.values() for name in declared.looks_for or ()}
    shown = lambda graph: [(eqn.primitive, [var.aval for var in eqn.outvars]) for eqn in graph.jaxpr.eqns]
    with using(**dict.fromkeys(("cached_bytes", "min_quotients", "min_selected_bytes", "min_angles"), 0)):
        for declared in DECLARED.values():
            for graph in graphs if declared.looks_for else ():
                if declared.looks_for.isdisjoint(eqn.primitive.name for eqn in graph.jaxpr.eqns):
                    assert shown(declared.function(graph)) == shown(graph), declared.name
    assert looked_for & {eqn.primitive.name for graph in graphs for eqn in graph.jaxpr.eqns} >= {"sort", "dot_general"}


def test_a_pass_is_not_called_without_what_it_looks_for(monkeypatch):
    called = []
    monkeypatch.setattr(FromModule, "__call__", lambda self, closed: called.append(self.__name__) or closed)
    graph = jax.make_jaxpr(lambda x: jnp.tanh(x).sum())(jnp.ones(4))
    run_passes(graph, without_switches(default_passes("cpu")))
    assert "hold" in called and not {"sort_integers", "flatten_dots", "pad_images"} & set(called)
