"""The code on pages for newcomers runs as it stands."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[1]


@pytest.mark.parametrize("page", ["docs/coming_from_pytorch.md"])
def test_the_code_of_a_page_runs(page, tmp_path, capsys):
    text = (ROOT / page).read_text().replace("/tmp/", f"{tmp_path}/")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert blocks
    scope = {"__name__": "page"}
    for block in blocks:
        exec(compile(block, page, "exec"), scope)
    said = capsys.readouterr().out
    assert "misses=1" in said and "has no attribute 'cuda'. Arrays live on" in said
    assert scope["state"]["epoch"] == 3


def test_the_code_of_the_page_on_subclasses_runs(capsys):
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/subclasses.md").read_text(), re.DOTALL | re.MULTILINE)
    scope = {"__name__": "page"}
    for block in blocks:
        exec(compile(block, "docs/subclasses.md", "exec"), scope)
    assert capsys.readouterr().out == "Scaled(values=tensor([60., 60., 60., 60.]), context=10.0)\n"


@pytest.mark.parametrize("page", ["docs/coming_from_pytorch.md", "docs/subclasses.md"])
def test_the_links_of_a_page_lead_somewhere(page):
    text = (ROOT / page).read_text()
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert ((ROOT / page).parent / target).exists(), target
