"""Every notebook runs from top to bottom, and shows outputs that are short."""

import asyncio
import os
import pathlib
import sys

import nbformat
import pytest

ROOT = pathlib.Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
MAX_OUTPUT_LINES = 40
MAX_PICTURE_BYTES = 50_000


@pytest.fixture
def kernel():
    """Yields a manager whose kernel runs in the interpreter of the tests, whatever kernels are registered."""
    manager = pytest.importorskip("jupyter_client").AsyncKernelManager(kernel_name="python3")
    manager.kernel_spec.argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    yield manager
    asyncio.run(manager.shutdown_kernel(now=True))


@pytest.mark.slow
@pytest.mark.notebook
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_the_notebook_runs(path, kernel, monkeypatch):
    client = pytest.importorskip("nbclient")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])))
    notebook = nbformat.read(path, as_version=4)
    made = client.NotebookClient(
        notebook, km=kernel, timeout=300, resources={"metadata": {"path": str(ROOT)}}
    ).execute()
    assert not [out for cell in made.cells for out in cell.get("outputs", []) if out.output_type == "error"]


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
