"""Cases that are one test: those that fail are named, and none is lost."""

import inspect
import pathlib

import pytest

from tests.cases import each
from tests.seeds import one_in


def test_cases_that_fail_are_named_and_the_others_run():
    seen = []

    @each("x, y", [(1, 1), (1, 2), (3, 4), (5, 5)])
    def check(x, y, tmp_path):
        seen.append(tmp_path / str(y))
        assert x == y

    assert list(inspect.signature(check).parameters) == ["tmp_path"]
    with pytest.raises(ExceptionGroup, match="2 of 4 cases failed") as caught:
        check(tmp_path=pathlib.Path("place"))
    assert [error.__notes__ for error in caught.value.exceptions] == [["Case 1: x=1, y=2"], ["Case 2: x=3, y=4"]]
    assert len(seen) == 4


def test_one_case_that_fails_is_the_error_itself():
    @each("n", range(3))
    def check(n):
        with pytest.raises(ZeroDivisionError):
            1 / (n - 1) if n == 1 else n

    with pytest.raises(BaseExceptionGroup, match="2 of 3"):
        check()

    @each("word", ["right", "wrong"])
    def spelled(word):
        assert word == "right"

    with pytest.raises(AssertionError) as caught:
        spelled()
    assert caught.value.__notes__ == ["Case 1: word='wrong'"]


def test_a_case_with_a_mark_is_refused():
    with pytest.raises(AssertionError, match="a test of its own"):
        each("n", one_in(2, [1, 2]))
