"""What notebooks show of a stage: a summary, and its graphs folded in."""

from __future__ import annotations

import dataclasses

import jax

from jaxaot.ir.roles import Primal
from jaxaot.plan.stages import JointGraph, Partition, Traced
from jaxaot.report.build import Sources, changes_of, collectives_of, graph_record, part_of, part_of_graph
from jaxaot.report.contents import Part, Section
from jaxaot.report.page import fragment_of
from jaxaot.report.record import Report


def stage_report(stage: Traced | JointGraph | Partition) -> Report:
    """Returns a report on one stage alone."""
    sources, platform = Sources(), jax.default_backend()
    if isinstance(stage, Traced):
        roles = [Primal(i, name) for i, name in enumerate(stage.input_names)]
        parts = (part_of_graph("traced", stage.jaxpr, sources, roles, "traced"),)
        sections = (Section("signature", str(stage.signature)),)
        exchanges = collectives_of("traced", stage.jaxpr)
        report = Report("traced", "ja.trace", platform, changes_of(stage), None, exchanges, (), parts, sections)
    elif isinstance(stage, JointGraph):
        graph = graph_record(stage.jaxpr, sources, stage.in_roles, stage.out_roles, "joint")
        report = Report("joint", "Traced.joint", platform, None, stage.passed, (), (), (Part("joint", graph),))
    else:
        exchanges = (*collectives_of("forward", stage.forward), *collectives_of("backward", stage.backward))
        parts = (part_of("partition", stage, sources),)
        report = Report("partition", "JointGraph.partition", platform, None, stage.joint.passed, exchanges, (), parts)
    return dataclasses.replace(report, sources=sources.read())


def stage_html(stage: Traced | JointGraph | Partition) -> str:
    """Returns a stage as HTML."""
    return fragment_of(stage_report(stage))
