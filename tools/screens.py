"""Photographs the pages that people see, at two widths, into `tests/report/screens`: `python tools/screens.py [SITE]`.

They are the page of `explain`, the demo's report, and the first page of the documentation where `SITE` names the folder
that `tools/docs_site.py` built. Chromium, playwright and Pillow have to be there: `pip install ".[browser]" pillow`.
Look at what changed before it is committed; no test compares pixels.
"""

from __future__ import annotations

import io
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.report.test_browser import CHROMIUM, FLAGS, network  # noqa: E402

FOLDER = ROOT / "tests" / "report" / "screens"
WIDTHS, HEIGHT = (1400, 400), 1000
COLOURS = 32
"""Of a screen that is kept: some 40 kB each."""


def photograph(pages: dict[str, str]) -> None:
    """Writes a picture of the upper part of each page at each width.

    Args:
      pages: Name → address.
    """
    from PIL import Image
    from playwright.sync_api import sync_playwright

    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for name, address in pages.items():
            for width in WIDTHS:
                page = browser.new_page(viewport={"width": width, "height": HEIGHT})
                page.goto(address)
                screen = Image.open(io.BytesIO(page.screenshot())).convert("RGB").quantize(COLOURS, dither=0)
                screen.save(FOLDER / f"{name}-{width}.png", optimize=True)
                page.close()
        browser.close()


def main(site: str | None = None) -> None:
    """Makes the pages and photographs them."""
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder)
        network().save_html(made / "explain.html")
        command = [sys.executable, "-m", "jaxaot", "demo", "--steps", "60", "--budget", "0.5", "--out", folder]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
        pages = {"explain": made / "explain.html", "demo": made / "report.html"}
        if site is not None:
            pages["site"] = pathlib.Path(site).resolve() / "index.html"
        photograph({name: path.as_uri() for name, path in pages.items()})


if __name__ == "__main__":
    main(*sys.argv[1:])
