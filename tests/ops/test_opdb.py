"""PyTorch's operator samples through the facade: see `opdb.py`, which also runs all samples and writes the table."""

import os

import pytest

pytest.importorskip("torch")
pytest.importorskip("expecttest")
from tests.ops import opdb

pytestmark = pytest.mark.oracle
N_SAMPLES = int(os.environ.get("JAXAOT_SAMPLES", "2"))
OPS = opdb.in_scope()


@pytest.mark.parametrize("op", OPS, ids=opdb.full_name)
def test_op(op):
    name = opdb.full_name(op)
    wrong = {m: o.misses for m, o in opdb.run_op(op, limit=N_SAMPLES).items() if o.n_missed}
    assert not {m: text for m, text in wrong.items() if (name, m) not in opdb.MISSES}


@pytest.mark.parametrize("measure", opdb.MEASURES)
def test_at_least_97_percent_agree(measure):
    names = [opdb.full_name(op) for op in OPS if measure in opdb.measures_of(op)]
    assert set(opdb.MISSES) <= {(opdb.full_name(op), m) for op in OPS for m in opdb.measures_of(op)}
    assert sum((name, measure) in opdb.MISSES for name in names) <= 0.03 * len(names)


TWICE = [op for op in OPS if "second" in opdb.measures_of(op) and (opdb.full_name(op), "second") not in opdb.MISSES]


@pytest.mark.parametrize("op", TWICE[3::24], ids=opdb.full_name)
def test_second_derivatives_of_a_sample_of_the_ops(op):
    assert not opdb.run_op(op, ("second",), limit=2)["second"].misses
