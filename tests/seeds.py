"""Seeds of random programs, and cases of one kind: some run by default, all of them by `.ci/run --slow`."""

import collections
import os

import pytest

slow_are_made = True
"""Whether slow cases of `seeds` and `chunks` are made; `conftest.py` says no where none is selected."""


def _below(n, n_quick, size=1):
    n_quick = int(os.environ.get("JAXAOT_PROGRAMS", n_quick))
    n = max(n, n_quick) if slow_are_made else max(n_quick, 1)  # without a case, pytest would report a skip
    return [pytest.param(i, marks=() if i < n_quick else pytest.mark.slow) for i in range(0, n, size)]


def seeds(n, n_quick):
    """Returns the seeds below `n`, those from `n_quick` on marked slow; `JAXAOT_PROGRAMS` says how many run at once."""
    return _below(n, n_quick)


def chunks(size, n, n_quick):
    """Returns the first seeds of chunks of random programs that one test runs, as `seeds` does."""
    return _below(n, n_quick, size)


def some(cases, n_quick):
    """Returns cases of one test, those after the first `n_quick` marked slow."""
    return [pytest.param(case, marks=() if i < n_quick else pytest.mark.slow) for i, case in enumerate(cases)]


def one_in(n, cases):
    """Returns cases of one test, some of them by `pytest.param`: every `n`-th runs by default, others are slow."""
    found = [case if hasattr(case, "marks") else pytest.param(case) for case in cases]
    slow = lambda case: pytest.param(*case.values, id=case.id, marks=(*case.marks, pytest.mark.slow))
    return [slow(case) if i % n else case for i, case in enumerate(found)]


def mark_few(items):
    """Marks slow all but `n` cases of each test marked `few(n)`, whose decorators make the cases; `n` are spread."""
    tests = collections.defaultdict(list)
    for item in items:
        if item.get_closest_marker("few") and not item.get_closest_marker("slow"):
            tests[item.nodeid.partition("[")[0]].append(item)
    for cases in tests.values():
        n = cases[0].get_closest_marker("few").args[0]
        kept = {i * len(cases) // n for i in range(n)}
        for i, item in enumerate(cases):
            if i not in kept:
                item.add_marker(pytest.mark.slow)
