"""The programs of an archive run in plain JAX, as `docs/shipping.md` shows, where jaxaot is not installed."""

import pathlib
import re
import subprocess
import sys

import numpy as np

import jaxaot as ja

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "shipping.md"

BLOCK = """
import sys
class Blocked:
    def find_spec(self, name, *_):
        if name.split(".")[0] in ("jaxaot", "flax", "torch", "tests"):
            raise ImportError(name)
sys.meta_path.insert(0, Blocked())
"""


def plain_code() -> str:
    """Returns the code of the page that runs without jaxaot."""
    (found,) = re.findall(r"<!-- plain JAX -->\n```py\n(.*?)```", PAGE.read_text(), re.DOTALL)
    return found


def test_the_code_of_the_page(tmp_path):
    ja.manual_seed(0)
    model = ja.nn.Linear(3, 2)

    def fn(x, cache):
        cache[1:].add_(x[0, 1:])
        return model(x).sum(), cache[0]

    x, cache = ja.randn(4, 3), ja.zeros(3)
    ja.export(fn, x, cache).save(tmp_path / "model.jaxaot")
    (tmp_path / "run.py").write_text(BLOCK + plain_code())
    found = subprocess.run([sys.executable, "run.py"], capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert found.returncode == 0, found.stderr
    loss, _ = fn(x := ja.ones(4, 3), cache)
    loss.backward()
    numbers = [float(text) for text in re.findall(r"-?\d+\.\d*(?:e-?\d+)?", found.stdout)]
    expected = [loss.item(), *cache.tolist(), *np.ravel(model.weight.grad.numpy())]
    np.testing.assert_allclose(numbers, expected, rtol=1e-3, atol=1e-3)


def test_the_joint_graph_is_forward_and_backward_in_one():
    model = ja.nn.Linear(3, 2)
    exported = ja.export(lambda x: model(x).sum(), ja.ones(4, 3))
    graphs = exported.programs[0].graphs()
    assert set(graphs) == {"forward", "backward", "joint"}
    assert len(graphs["joint"].out_avals) == 1 + 2


def test_each_slot_of_each_graph_is_described(tmp_path):
    model = ja.nn.Sequential(ja.nn.Linear(3, 2), ja.nn.Dropout(0.5))
    ja.export(lambda x, n: model(x).sum() * n, ja.ones(4, 3), 2.0).save(tmp_path / "f.jaxaot")
    loaded = ja.load(tmp_path / "f.jaxaot")
    described = loaded.manifest["programs"][0]["signature"]
    for role in ("forward", "backward", "joint"):
        program = loaded.graph(role)
        assert len(described[role]["inputs"]) == len(program.in_avals)
        assert len(described[role]["outputs"]) == len(program.out_avals)
    inputs = described["forward"]["inputs"]
    assert [slot["is"] for slot in inputs] == ["state", "state", "argument", "argument", "seed", "offset"]
    assert [slot["weights"] for slot in inputs[:2]] == ["model.0.weight", "model.0.bias"]
    kinds = {tensor["name"]: tensor["kind"] for tensor in described["inputs"]}
    assert kinds == {"model.0.weight": "parameter", "model.0.bias": "parameter", "args[0]": "argument"}
