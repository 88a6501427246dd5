"""Small cases of one claim are one test, which names the cases that fail: a test costs more than a small case does."""

import functools
import inspect

import pytest


def each(names, cases, ids=None):
    """Runs a test for each case, like `pytest.mark.parametrize`, but as one test.

    Every case runs with the same random numbers, whether those before it failed or not; fixtures are made once. Cases
    whose outcome is worth a line of its own, that take long, or that need fixtures of their own are parametrized.

    Args:
      names: The parameters that a case gives values of: one name, names with commas between, or a sequence of them.
      cases: One value for each name; where there is one name, the value itself. Any may be a `pytest.param`, whose
        name does not count, and which has no marks.
      ids: A function from a value to the name of its case; by default its `__name__`, or else itself.

    Returns:
      A decorator; the test that it makes keeps the parameters that are fixtures.

    Raises:
      What the case that fails raised, with a note that names the case; a group of them where several fail.
    """
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    cases = list(cases)
    marked = [case for case in cases if getattr(case, "marks", ())]
    cases = [case.values if hasattr(case, "marks") else (case,) if len(names) == 1 else case for case in cases]
    assert cases, "no case"
    assert not marked, "a case with a mark is a test of its own: write `pytest.mark.parametrize`"

    def decorated(check):
        signature = inspect.signature(check)

        @functools.wraps(check)
        def test(**fixtures):
            from jaxaot.facade.memory.generator import manual_seed

            failed = []
            for number, case in enumerate(cases):
                manual_seed(0)
                try:
                    check(**fixtures, **dict(zip(names, case, strict=True)))
                except (Exception, pytest.fail.Exception) as error:
                    said = [(ids or _said)(value) for value in case]
                    error.add_note(f"Case {number}: {', '.join(f'{n}={s}' for n, s in zip(names, said, strict=True))}")
                    failed.append(error)
            if len(failed) == 1:
                raise failed[0]
            if failed:
                raise BaseExceptionGroup(f"{len(failed)} of {len(cases)} cases failed", failed)

        kept = [parameter for name, parameter in signature.parameters.items() if name not in names]
        test.__signature__ = signature.replace(parameters=kept)
        return test

    return decorated


def _said(value):
    name = getattr(value, "__name__", None)
    return name if isinstance(name, str) else repr(value)
