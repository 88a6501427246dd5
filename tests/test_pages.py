"""The code on pages for users runs as it stands and prints what they show; links lead somewhere; pictures are new."""

import contextlib
import importlib.util
import io
import pathlib
import re
import sys

import jax
import pytest

from tests.cases import each
from tests.test_front_door import PACKAGES

ROOT = pathlib.Path(__file__).parents[1]
MARKDOWN = sorted([
    *ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "jaxaot").rglob("README.md"),
    *(ROOT / name / "README.md" for name in ("benchmarks", "examples", "tests")),
])  # fmt: skip


MAX_PAGES, MAX_WORDS = 20, 42_700
"""Of `docs/`. What is added takes the place of what says less."""


def tool(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


listings, docs_site = tool("listings"), tool("docs_site")


READ_FIRST = (
    "README.md",
    "docs/getting_started.md",
    "docs/coming_from_pytorch.md",
    "docs/coming_from_jax.md",
)
BY_PAGE = [pytest.param(page, marks=() if page in READ_FIRST else pytest.mark.slow) for page in listings.PAGES]


@pytest.mark.few(1)
@pytest.mark.parametrize("page", BY_PAGE)
def test_the_listings_of_a_page_print_what_it_shows(page, tmp_path, optimized, own_kernels):
    results = list(listings.run(ROOT / page, tmp_path))
    assert results
    for listing, printed in results:
        advice = f"{page}, line {listing.line}: run `python tools/listings.py {page}`"
        assert listings.masked(printed) == listings.masked(listing.shown or ""), advice


@pytest.mark.oracle
@pytest.mark.parametrize("page", listings.WITH_PYTORCH)
def test_the_listings_of_a_page_with_pytorch_print_what_it_shows(page, tmp_path):
    pytest.importorskip("torch")
    before = jax.config.jax_enable_x64
    try:
        test_the_listings_of_a_page_print_what_it_shows(page, tmp_path, None, None)
    finally:
        jax.config.update("jax_enable_x64", before)


@pytest.mark.oracle
def test_the_original_of_readmes_port_runs_in_pytorch_and_prints_the_same():
    import torch

    port = next(listings.listings((ROOT / "README.md").read_text()))
    original, n_lines = re.subn(r"^.*  # (?=import torch)", "", port.code, flags=re.MULTILINE)
    assert n_lines == 2 and "jaxaot" not in original
    with contextlib.redirect_stdout(io.StringIO()) as printed, torch.compiler.set_stance("force_eager"):
        exec(original, {})
    assert printed.getvalue() == port.shown


def test_masks_leave_all_but_times_sizes_and_addresses():
    masked = listings.masked
    assert masked("took 3.25 ms, 10 µs of 2 s, 1.5 MiB") == "took #, # of #, #"
    assert masked("<function f at 0x7f00>  x") == "<function f at 0x#> x"
    assert masked("7 values, loss 2.5, 3 steps") == "7 values, loss 2.5, 3 steps"


def test_an_output_belongs_to_the_listing_right_above_it():
    page = "```python\nprint(1)\n```\n\n```text\n1\n```\n\n```python\nprint(2)\n```\nWords.\n```text\n2\n```\n"
    assert [(found.line, found.shown) for found in listings.listings(page)] == [(2, "1\n"), (10, None)]


def anchors(text):
    """Returns the names of a page's headings, as GitHub and MyST make them."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@each("page", MARKDOWN)
def test_the_links_of_a_page_lead_somewhere(page):
    for target, anchor in re.findall(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)", page.read_text()):
        linked = page.parent / target if target else page
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked.read_text()), f"{target}#{anchor}"


@each("page", MARKDOWN)
def test_a_page_says_in_its_first_line_what_it_is_for(page):
    heading, _, rest = re.sub(r"<!--.*?-->\s*", "", page.read_text(), flags=re.DOTALL).partition("\n\n")
    first = rest.split("\n\n")[0]
    assert re.fullmatch("# .+", heading)
    assert re.match(r"[A-Z`\[]", first) and len(first.split()) >= 5, "a paragraph comes first, and then the rest"


def test_the_pages_can_be_read():
    pages = sorted((ROOT / "docs").glob("*.md"))
    assert len(pages) <= MAX_PAGES
    assert sum(len(page.read_text().split()) for page in pages) <= MAX_WORDS


# -- the site ----------------------------------------------------------------------------------------------------------


def test_the_reference_has_each_public_package():
    elsewhere = {"errors", "signal", "torch"}  # a generated page, one that holds `signal.windows` alone, and PyTorch's
    elsewhere |= {name for name in PACKAGES if name.startswith("backends")} | {"mps", "xpu", "version"}  # no functions
    assert {*docs_site.PACKAGES, *docs_site.OP_PACKAGES} | elsewhere == set(PACKAGES)


def test_the_site_has_every_page_once(tmp_path):
    docs_site.stage(tmp_path)
    text = (tmp_path / "index.md").read_text()
    listed = [
        line
        for tree in re.findall(r"```{toctree}\n(.*?)```", text, re.DOTALL)
        for line in tree.split("\n\n")[1].split()
    ]
    assert len(listed) == len(set(listed))
    staged = {str(path.relative_to(tmp_path).with_suffix("")) for path in tmp_path.rglob("*.md")}
    scripts = {f"examples/{path.stem}" for path in (ROOT / "examples").glob("*.py")}
    assert staged == {*listed, *scripts, "index"}
    for page in tmp_path.rglob("*.md"):
        words = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
        for target in re.findall(r"\]\((?!https?:|mailto:)([^)#\s]+)", words):
            assert (page.parent / target).exists(), f"{page}: {target}"


def test_a_page_that_the_navigation_does_not_name_comes_under_more():
    named = [entry for entries in docs_site.NAVIGATION.values() for entry in entries if "*" not in entry]
    trees = docs_site.contents([*named, "docs/new_page.md", "jaxaot/room/README.md"])
    assert "More\n:hidden:\n\ndocs/new_page\n" in trees and "jaxaot/room/README" in trees


def test_a_page_that_is_gone_is_an_error():
    with pytest.raises(FileNotFoundError, match="docs/architecture"):
        docs_site.contents(["docs/getting_started.md"])


def test_docstrings_become_lists():
    doc = (
        "Returns x.\n\nArgs:\n  a: The first,\n    on two lines.\n  *args: More.\n\nRaises:\n  ViewError: No.\n\nMore."
    )
    made = docs_site.doc_as_markdown(doc)
    assert "**Args:**" in made and "- `a`: The first,\n    on two lines.\n- `*args`: More." in made
    assert "- `ViewError`: No." in made and made.endswith("More.")


def test_pictures_are_what_the_code_draws():
    pictures = tool("pictures")
    stored = {path.stem: path.read_text() for path in pictures.FOLDER.glob("*.svg")}
    stale = [name for name, draw in pictures.PICTURES.items() if stored.get(name) != draw()]
    assert not stale, "run `python tools/pictures.py`"
    assert set(stored) == set(pictures.PICTURES)


def test_the_page_of_benchmarks_is_what_their_results_say():
    written = tool("benchmarks_page")
    assert written.PAGE.read_text() == written.page(), "run `python tools/benchmarks_page.py`"
    assert "ratio to the baseline" in written.page()


def test_long_signatures_have_a_line_for_each_parameter():
    assert docs_site.wrapped("ja.f(a, b)") == "ja.f(a, b)"
    call = "ja.f(first: dict[str, int] = {'a': (1, 2)}, second: Callable[[int], int] | None = None, *args) -> None"
    assert docs_site.wrapped(call).splitlines() == [
        "ja.f(",
        "    first: dict[str, int] = {'a': (1, 2)},",
        "    second: Callable[[int], int] | None = None,",
        "    *args,",
        ") -> None",
    ]
