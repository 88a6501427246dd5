"""Every notebook runs from top to bottom, and shows outputs that are short and true."""

import importlib.util
import os
import pathlib
import sys

import nbformat
import pytest

ROOT = pathlib.Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
MAX_OUTPUT_LINES = 40
MAX_PICTURE_BYTES = 50_000


def listings():
    spec = importlib.util.spec_from_file_location("listings", ROOT / "tools" / "listings.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["listings"] = module
    spec.loader.exec_module(module)
    return module


LISTINGS = listings()


@pytest.mark.slow
@pytest.mark.notebook
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_the_notebook_runs_and_shows_what_it_did_when_it_was_stored(path, monkeypatch, optimized):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])))
    made = LISTINGS.executed(path)
    assert not [out for cell in made.cells for out in cell.get("outputs", []) if out.output_type == "error"]
    found = LISTINGS.differences(nbformat.read(path, as_version=4), made)
    assert not found, f"run `python tools/listings.py notebooks/{path.name}`\n" + "\n\n".join(found)


def test_outputs_differ_by_more_than_times_and_sizes():
    def notebook(*texts):
        outputs = [nbformat.v4.new_output("stream", text=text) for text in texts]
        return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("f()", outputs=outputs)])

    assert not LISTINGS.differences(notebook("3 ms, 2 values\n"), notebook("4 ms, ", "2 values\n"))
    (words,) = LISTINGS.differences(notebook("saved 2 values"), notebook("saved 3 values"))
    assert words.startswith("cell 0:\nsaved 2 values\n-- is now\nsaved 3 values")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_the_notebook_is_short_and_has_its_outputs(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    assert counts == list(range(1, len(counts) + 1)), "run it from top to bottom, in a fresh kernel"
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            assert output.output_type != "error"
            text = output.get("text") or output.get("data", {}).get("text/plain", "")
            assert len(text.splitlines()) <= MAX_OUTPUT_LINES
            assert set(output.get("data", {})) <= {"text/plain", "text/html"}, "nothing that needs a program"
            assert len(output.get("data", {}).get("text/html", "")) < MAX_PICTURE_BYTES
        assert str(pathlib.Path.home()) not in str(cell.get("outputs", "")), "no path of somebody's machine"
