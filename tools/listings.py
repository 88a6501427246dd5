"""Runs the Python listings of pages, and writes what they print below them: `python tools/listings.py README.md …`.

A notebook is run too, where it is named: `python tools/listings.py notebooks/01_tensors_and_views.ipynb`.

A listing is a block marked `python`; one that is marked `py` is not run. What a listing prints stands in a block marked
`text` right after it. One that differs in times and sizes alone is left, unless `--fresh` is given. Tests run the same
listings and notebooks, and compare.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import io
import pathlib
import re
import sys
import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nbformat import NotebookNode

ROOT = pathlib.Path(__file__).parents[1]

PAGES = (
    "README.md", "docs/getting_started.md", "docs/coming_from_pytorch.md", "docs/coming_from_jax.md",
    "docs/fit_into_memory.md", "docs/speed.md", "docs/shipping.md", "docs/debugging.md", "docs/subclasses.md",
)  # fmt: skip
"""The pages whose listings run, one after the other in one namespace, in a folder that is empty at first."""

ON_FOUR_DEVICES = ("docs/many_devices.md",)
"""Pages that run by themselves, in a process with `XLA_FLAGS=--xla_force_host_platform_device_count=4`."""

WITH_PYTORCH = ("docs/pytorch_models.md",)
"""Pages that run where PyTorch is installed."""

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_MASKS = (
    (re.compile(r"-?\b\d[\d,.]*(?:e[+-]?\d+)? ?(?:ns|µs|ms|s|[KMGTPE]?i?B)\b"), "#"),  # times and sizes
    (re.compile(r"\b[\d.]+ (?:nano|micro|milli)?seconds\b"), "# seconds"),
    (re.compile(r"\b\d(?:\.\d+)?e-\d\d\b"), "#"),  # small differences, which rounding makes
    (re.compile(r"\b0x[0-9a-f]+\b"), "0x#"),
    (re.compile(r"\bK\d+\b"), "K#"),  # constants of generated code
    (re.compile(r"/\S*/(?=[\w-]+\.py\b)"), ""),
    (re.compile(r"[ \t]+"), " "),  # columns are as wide as the widest number
    (re.compile(r"-{2,}|[─━═]{2,}"), "--"),
    (re.compile(r" +$", re.MULTILINE), ""),
)


def masked(text: str) -> str:
    """Returns a text without what differs from run to run: times, sizes, addresses, rounding, the width of columns."""
    for pattern, put in _MASKS:
        text = pattern.sub(put, text)
    return text.strip()


@dataclasses.dataclass(frozen=True)
class Listing:
    """A block of Python in a page.

    Attributes:
      line: The line of the page where the code starts.
      code: The code.
      shown: The output that the page shows; None if it shows none.
      start: Where the output starts in the text of the page, or is to start.
      end: Where it ends.
    """

    line: int
    code: str
    shown: str | None
    start: int
    end: int


def listings(text: str) -> Iterator[Listing]:
    """Yields the listings of a page."""
    blocks = list(_BLOCK.finditer(text))
    for block, following in zip(blocks, [*blocks[1:], None], strict=True):
        if block[1] != "python":
            continue
        line = text.count("\n", 0, block.start()) + 2
        is_output = following and following[1] == "text" and not text[block.end() : following.start()].strip()
        if following and is_output:
            yield Listing(line, block[2], following[2], *following.span())
        else:
            yield Listing(line, block[2], None, block.end(), block.end())


def run(path: pathlib.Path, folder: pathlib.Path) -> Iterator[tuple[Listing, str]]:
    """Runs the listings of a page in a folder, and yields each with what it printed.

    Together they are the script of the page's name, which is what lines in outputs count in.
    """
    found = list(listings(path.read_text()))
    script = folder / f"{path.stem}.py"
    script.write_text("".join(listing.code for listing in found))
    scope: dict[str, object] = {"__name__": path.stem}
    n_lines = 0
    for listing in found:
        printed = io.StringIO()
        program = compile("\n" * n_lines + listing.code, str(script), "exec")
        n_lines += listing.code.count("\n")
        with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
            exec(program, scope)
        yield listing, printed.getvalue()


def rewrite(path: pathlib.Path, is_fresh: bool) -> None:
    """Writes what the listings of a page print into the page; where only times differ, if they are to be fresh."""
    text = path.read_text()
    with tempfile.TemporaryDirectory() as folder:
        results = list(run(path, pathlib.Path(folder)))
    for listing, printed in reversed(results):
        if is_fresh or masked(printed) != masked(listing.shown or ""):
            block = f"```text\n{printed.rstrip()}\n```" if printed else ""
            gap = "\n\n" if block and listing.shown is None else ""
            text = text[: listing.start] + gap + block + text[listing.end :]
    path.write_text(text)


# -- notebooks ---------------------------------------------------------------------------------------------------------


def executed(path: pathlib.Path) -> NotebookNode:
    """Returns a notebook after a run from top to bottom, in a fresh kernel of this Python."""
    import nbclient
    import nbformat
    from jupyter_client.manager import AsyncKernelManager

    notebook = nbformat.read(path, as_version=4)
    kernel = AsyncKernelManager(kernel_name="python3")
    assert kernel.kernel_spec is not None
    kernel.kernel_spec.argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    folder = {"metadata": {"path": str(ROOT)}}
    client = nbclient.NotebookClient(notebook, km=kernel, timeout=600, resources=folder, record_timing=False)
    made = client.execute()
    for cell in made.cells:
        if cell.cell_type == "code":
            cell.outputs = _joined(cell.outputs)
    return made


def _joined(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Returns outputs in which what was printed to one stream is one; how it is split depends on the time it took."""
    joined: list[NotebookNode] = []
    for output in outputs:
        if joined and output.output_type == "stream" == joined[-1].output_type and output.name == joined[-1].name:
            joined[-1].text += output.text
        else:
            joined.append(output)
    return joined


def shown_by(cell: NotebookNode) -> list[str]:
    """Returns the masked texts of a cell's outputs, of pictures the words for them."""
    outputs = _joined(copy.deepcopy(cell.get("outputs", [])))
    return [masked(output.get("text") or output.get("data", {}).get("text/plain", "")) for output in outputs]


def differences(before: NotebookNode, after: NotebookNode) -> list[str]:
    """Returns the cells whose outputs differ in more than times and sizes, with both outputs."""
    cells = enumerate(zip(before.cells, after.cells, strict=True))
    return [
        f"cell {i}:\n" + "\n".join(shown_by(old)) + "\n-- is now\n" + "\n".join(shown_by(new))
        for i, (old, new) in cells
        if shown_by(old) != shown_by(new)
    ]


def rewrite_notebook(path: pathlib.Path, is_fresh: bool) -> None:
    """Writes the outputs of a run into a notebook; where only times differ, if they are to be fresh."""
    import nbformat

    before, after = nbformat.read(path, as_version=4), executed(path)
    for old, new in zip(before.cells, after.cells, strict=True):
        if old.cell_type == "code":
            if is_fresh or shown_by(old) != shown_by(new):
                old.outputs = new.outputs
            old.execution_count = new.execution_count
    nbformat.write(before, path)


if __name__ == "__main__":
    for word in [word for word in sys.argv[1:] if word != "--fresh"] or PAGES:
        file = pathlib.Path(word).resolve()
        (rewrite_notebook if file.suffix == ".ipynb" else rewrite)(file, "--fresh" in sys.argv)
