"""Seeds of random programs, and cases of one kind: some run by default, all of them by `.ci/run --slow`."""

import os

import pytest


def seeds(n, n_quick):
    """Returns the seeds below `n`, those from `n_quick` on marked slow; `JAXAOT_PROGRAMS` says how many run at once."""
    n_quick = int(os.environ.get("JAXAOT_PROGRAMS", n_quick))
    n = max(n, n_quick)
    return [pytest.param(seed, marks=() if seed < n_quick else pytest.mark.slow) for seed in range(n)]


def some(cases, n_quick):
    """Returns cases of one test, those after the first `n_quick` marked slow."""
    return [pytest.param(case, marks=() if i < n_quick else pytest.mark.slow) for i, case in enumerate(cases)]


def one_in(n, cases):
    """Returns cases of one test, some of them by `pytest.param`: every `n`-th runs by default, others are slow."""
    found = [case if hasattr(case, "marks") else pytest.param(case) for case in cases]
    slow = lambda case: pytest.param(*case.values, id=case.id, marks=(*case.marks, pytest.mark.slow))
    return [slow(case) if i % n else case for i, case in enumerate(found)]


def chunks(size, n, n_quick):
    """Returns the first seeds of chunks of random programs that one test runs, as `seeds` does."""
    n_quick = int(os.environ.get("JAXAOT_PROGRAMS", n_quick))
    n = max(n, n_quick)
    return [pytest.param(start, marks=() if start < n_quick else pytest.mark.slow) for start in range(0, n, size)]
