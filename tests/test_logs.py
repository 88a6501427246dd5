"""`JAXAOT_LOGS` shows what its names say, and nothing else."""

import logging

import pytest

import jaxaot as ja
from jaxaot._logs import NAMES, _Shown, logger_of, set_up_logs
from jaxaot.errors import UsageError


@pytest.fixture
def logs(capsys, failed_passes):
    """Sets logs up, and afterwards puts Python's loggers back."""
    before = {name: (logger_of(name).level, logger_of(name).propagate) for name in NAMES}

    def shown(asked, run):
        set_up_logs({"JAXAOT_LOGS": asked})
        run()
        return capsys.readouterr().err

    yield shown
    failed_passes.clear()  # all that the log of passes says is noted there
    for name, (level, propagate) in before.items():
        logger = logger_of(name)
        logger.handlers = [handler for handler in logger.handlers if not isinstance(handler, _Shown)]
        logger.setLevel(level)
        logger.propagate = propagate


def two_programs():
    w = ja.ones(3, 4, requires_grad=True)
    step = ja.compile(lambda x: (x @ w).tanh().sum())
    for n in (2, 5):
        step(ja.ones(n, 3)).backward()


SHOWN = {
    "recompiles": "is compiled again: program 1: argument `x` has shape [5, 3] instead of [2, 3]",
    "graphs": "backward(args[0]: f32[2,3]",
    "passes": "jaxaot.passes] cse: ",
    "partition": "`<lambda>` saves 32 B",
    "cache": "with its first call; 2 kept",
}


@pytest.mark.few(4)
@pytest.mark.parametrize("name", NAMES)
def test_a_name_shows_what_it_says_and_no_other(logs, name):
    text = logs(name, two_programs)
    assert SHOWN[name] in text
    assert not any(words in text for other, words in SHOWN.items() if other != name)
    assert f" jaxaot.{name}]" in text


def test_several_names_and_all(logs):
    text = logs(" recompiles, CACHE ", two_programs)
    assert SHOWN["recompiles"] in text and SHOWN["cache"] in text and SHOWN["graphs"] not in text
    text = logs("all", two_programs)
    assert all(words in text for words in SHOWN.values())
    assert text.count("2 kept") == 1  # asked for twice, shown once


def test_nothing_is_shown_unasked(logs):
    assert logs("", two_programs) == ""


def test_a_name_that_is_none(logs):
    with pytest.raises(UsageError, match="JAXAOT_LOGS names `recompile`, and the logs are recompiles, graphs"):
        set_up_logs({"JAXAOT_LOGS": "recompile"})


def test_a_program_that_is_dropped_is_logged(logs, caplog):
    step = ja.compile(lambda x: x * 2, max_programs=1)
    logger_of("cache").setLevel(logging.INFO)
    with caplog.at_level(logging.INFO, "jaxaot.cache"):
        for n in (1, 2):
            step(ja.ones(n))
    assert "1 kept, 1 dropped" in caplog.text
