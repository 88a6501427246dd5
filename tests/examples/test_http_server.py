"""The server of archives: answers that are the model's, batches, what it refuses, and how it ends."""

import json
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import jaxaot as ja
from tests.examples.test_examples import loaded

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

SERVER = loaded("http_server")


def ask(url, content=None):
    """Returns the status and the answer to JSON, or to a body of bytes."""
    body = content if content is None or isinstance(content, bytes) else json.dumps(content).encode()
    try:
        with urllib.request.urlopen(url, body, timeout=30) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        said = error.read().decode()
        return error.code, json.loads(said) if said.startswith("{") else said


@pytest.fixture
def model(tmp_path):
    """Returns a model, and an application that answers from its archive."""
    ja.manual_seed(0)
    model = ja.nn.Sequential(ja.nn.Linear(3, 4), ja.nn.Tanh()).eval()
    shapes = ({0: ja.sizes.Dim("batch", max=3)},)
    ja.export(model, ja.zeros(1, 3), dynamic_shapes=shapes, with_gradients=False).save(tmp_path / "model.jaxaot")
    return model, SERVER.app_of_archive(str(tmp_path / "model.jaxaot"))


def test_requests_at_once_are_answered_as_the_model_does(model):
    model, app = model
    rows = [np.random.default_rng(i).normal(size=(1 + i % 3, 3)).astype("float32") for i in range(24)]
    with SERVER.serving(app) as url, ThreadPoolExecutor(8) as clients:
        found = list(clients.map(lambda part: ask(f"{url}/predict", part.tolist()), rows))
        status, health = ask(f"{url}/health")
    for part, (code, answer) in zip(rows, found, strict=True):
        assert code == 200
        np.testing.assert_allclose(answer, model(ja.from_numpy(part)).tolist(), rtol=1e-5, atol=1e-6)
    assert status == 200 and health["status"] == "ready" and health["requests"] == 24 and health["waiting"] == 0


class Slow:
    """A model that waits until it is let go, and notes its batches."""

    def __init__(self):
        self.may_go, self.batches = threading.Event(), []

    def __call__(self, rows):
        if rows.any():  # not while it warms up
            assert self.may_go.wait(30)
            self.batches.append(rows[:, 0].tolist())
            if rows.min() < 0:
                raise ValueError("below zero")
        return rows * 2


def wait_until(is_so):
    for _ in range(3000):
        if is_so():
            return
        time.sleep(0.01)
    raise AssertionError("it never was so")


def test_what_waits_while_the_model_works_is_one_batch_and_is_answered_before_the_end():
    slow = Slow()
    with ThreadPoolExecutor(5) as clients:
        with SERVER.serving(SERVER.app_of(slow, (1,), "float32", 4)) as url:
            n_known = lambda health: health["requests"] + health["waiting"]
            n_asked = lambda n: wait_until(lambda: n_known(ask(f"{url}/health")[1]) == n)
            asked = [clients.submit(ask, f"{url}/predict", [[1]])]
            n_asked(1)
            for i, rows in enumerate(([[2], [2]], [[3]], [[4], [4]])):
                asked.append(clients.submit(ask, f"{url}/predict", rows))
                n_asked(i + 2)
            threading.Timer(0.2, slow.may_go.set).start()  # by then it has been told to end
        assert [job.result() for job in asked] == [
            (200, [[2]]), (200, [[4], [4]]), (200, [[6]]), (200, [[8], [8]])
        ]  # fmt: skip
        with pytest.raises(urllib.error.URLError):
            ask(f"{url}/health")
    assert slow.batches == [[1], [2, 2, 3], [4, 4]]


def test_what_is_wrong_with_a_request_is_said_and_the_next_is_answered():
    slow = Slow()
    slow.may_go.set()
    with SERVER.serving(SERVER.app_of(slow, (2,), "int32", 4)) as url:
        for content, words in (
            (b"no", "no JSON list of rows of int32"),
            ([[1, 2], [3]], "no JSON list of rows of int32"),
            ([[1.5, 2]], "no JSON list of rows of int32"),
            ({"rows": [[1, 2]]}, "no JSON list of rows of int32"),
            ([[1, 2, 3]], "1 to 4 rows of shape [2] are taken, and the body has shape [1, 3]"),
            ([[1, 2]] * 5, "the body has shape [5, 2]"),
            (7, "the body has shape []"),
        ):
            code, answer = ask(f"{url}/predict", content)
            assert code == 400 and words in answer["error"]
        assert ask(f"{url}/predict", [[-1, 2]]) == (500, "Internal Server Error")  # the log has the model's own words
        assert ask(f"{url}/predict", [[1, 2]]) == (200, [[2, 4]])


def test_who_comes_when_too_many_wait_is_told_to_come_again(monkeypatch):
    monkeypatch.setattr(SERVER, "MOST_WAITING", 1)
    slow = Slow()
    with ThreadPoolExecutor(2) as clients, SERVER.serving(SERVER.app_of(slow, (1,), "float32", 1)) as url:
        first = clients.submit(ask, f"{url}/predict", [[1]])
        wait_until(lambda: ask(f"{url}/health")[1]["requests"] == 1)
        second = clients.submit(ask, f"{url}/predict", [[2]])
        wait_until(lambda: ask(f"{url}/health")[1]["waiting"] == 1)
        assert ask(f"{url}/predict", [[3]]) == (503, {"error": "too many requests wait"})
        slow.may_go.set()
        assert first.result() == (200, [[2]]) and second.result() == (200, [[4]])
