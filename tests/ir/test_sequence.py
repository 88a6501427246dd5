"""Sequence numbers: each equation of a backward belongs to one of the forward, in tables and in compiled text."""

from __future__ import annotations

import jax
import numpy as np
import pytest

import jaxaot as ja
from jaxaot.ir.node_scopes import node_of
from jaxaot.ir.sequence import sequence_rows, sequence_table
from jaxaot.ir.walk import source_line

F = ja.nn.functional


def arguments():
    ja.manual_seed(0)
    return (
        ja.randn(2, 3, 4, 4), ja.randn(3, 3, 3, 3).requires_grad_(), ja.ones(3, requires_grad=True),
        ja.zeros(3, requires_grad=True), ja.zeros(3), ja.ones(3), ja.zeros(()), ja.randn(4, 48).requires_grad_(),
        ja.randn(4).requires_grad_(), ja.randn(2, 4),
    )  # fmt: skip


def network(x, conv, scale, shift, mean, var, n_batches, weight, bias, target):
    h = F.conv2d(x, conv, padding=1)
    n_batches.add_(1)
    h = F.relu(F.batch_norm(h, mean, var, scale, shift, training=True))
    h = (h + x).flatten(1)
    return F.l1_loss(F.linear(h, weight, bias), target)


def compressed(rows):
    """The operations in the order of the rows, each once where it comes several times in a row."""
    names = [row.source for row in rows]
    return [name for name, before in zip(names, [None, *names], strict=False) if name != before]


@pytest.mark.slow
def test_the_table_of_a_small_network():
    joint = ja.trace(network, *arguments()).joint()
    rows = sequence_rows(joint.jaxpr)
    forward = [row for row in rows if not row.is_backward]
    backward = [row for row in rows if row.is_backward]
    assert compressed(forward) == ["conv2d", "add", "batch_norm", "relu", "add", "", "linear", "l1_loss"]
    assert compressed(backward) == ["l1_loss", "linear", "", "relu", "batch_norm", "conv2d"], "`add` passes it on"
    sources = {row.number: row.source for row in forward}
    assert None not in sources
    assert all(sources[row.number] == row.source for row in backward)
    numbers = [row.number for row in backward]
    assert numbers == sorted(numbers, reverse=True)
    assert (0, "conv_general_dilated", "conv2d") in [row[:3] for row in backward]
    adds = {row.number for row in forward if row.source == "add"}
    assert len(adds) == 2 and not adds & set(numbers)


@pytest.mark.slow
def test_tables_do_not_depend_on_what_was_traced_before():
    def small(x):
        return (x.sin() * x).sum()

    programs = {"network": (network, arguments), "small": (small, lambda: (ja.ones(3, requires_grad=True),))}

    def tables(order):
        found = {}
        for name in order:
            fn, make = programs[name]
            found[name] = sequence_table(sequence_rows(ja.trace(fn, *make()).joint().jaxpr))
        return found

    first = tables(["network", "small"])
    assert first == tables(["small", "network"]) == tables(["small", "small", "network", "network"])
    with pytest.raises(ZeroDivisionError):
        ja.trace(lambda x: 1 / 0, ja.ones(2))
    assert first == tables(["small", "network"])


@pytest.mark.slow  # what other tests compiled is dropped
def test_the_table_is_printed_and_the_same_each_time():
    tables = []
    for _ in range(2):
        jax.clear_caches()
        sections = {section.title: section.text for section in ja.compile(network).explain(*arguments()).sections}
        tables.append(sections["sequence numbers"])
    joint = ja.trace(network, *arguments()).joint()
    assert tables[0] == tables[1] == sequence_table(sequence_rows(joint.jaxpr))
    lines = tables[0].splitlines()
    assert lines[0].split() == ["SeqNr", "Equation", "SrcFn"] and lines[1] == "-- forward"
    assert lines[2].split() == ["0", "conv_general_dilated", "conv2d"]
    assert lines[-1].split() == ["0", "conv_general_dilated", "conv2d"]


def test_a_profile_shows_the_operations_of_the_forward():
    compiled = ja.trace(network, *arguments()).joint().partition().compile()
    text = compiled.backward.as_text(optimized=True)
    named = [line.split('op_name="')[1].split('"')[0] for line in text.splitlines() if 'op_name="' in line]
    for name in ("conv2d", "batch_norm", "relu", "linear"):
        assert any(f"/{name}/" in scope and "transpose(jvp(fw" in scope for scope in named), name


def test_scopes_of_the_user_are_shown():
    def fn(x):
        with jax.named_scope("block"):
            return x.sin().sum()

    rows = sequence_rows(ja.trace(fn, ja.ones(3, requires_grad=True)).joint().jaxpr)
    assert [row.source for row in rows if row.equation == "cos"] == ["block/sin"]
    assert np.unique([row.number for row in rows if row.is_backward]).tolist() == [0, 1]


def test_equations_of_a_backward_inside_have_the_lines_and_the_names_of_the_forward():
    def step(x):
        y = x.sin()
        z = y.exp()
        return ja.autograd.grad(z.sum(), x)[0]

    first = step.__code__.co_firstlineno
    eqns = ja.trace(step, ja.ones(3, requires_grad=True)).jaxpr.jaxpr.eqns
    found = {(node.name, int(source_line(eqn).split(":")[1]) - first) for eqn in eqns if (node := node_of(eqn))}
    assert {("SinBackward0", 1), ("ExpBackward0", 2), ("SumBackward0", 3)} >= found >= {("SinBackward0", 1)}
    assert all(node_of(eqn) is None for eqn in eqns if eqn.primitive.name == "sin")
