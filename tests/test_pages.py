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


def test_the_code_of_the_page_on_many_devices_runs_on_one(capsys):
    scope = {"__name__": "page"}
    text = (ROOT / "docs/many_devices.md").read_text()
    for block in re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        exec(compile(block, "docs/many_devices.md", "exec"), scope)
    assert "held by a device" in capsys.readouterr().out and scope["loss"].item() > 0


@pytest.mark.parametrize("page", ["docs/coming_from_pytorch.md"])
def test_the_links_of_a_page_lead_somewhere(page):
    text = (ROOT / page).read_text()
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert ((ROOT / page).parent / target).exists(), target
