"""The page of a report in a browser: Chromium without a head, where it is installed."""

import shutil

import pytest

import jaxaot as ja

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")


def network():
    w = ja.randn(8, 8, requires_grad=True)
    v = ja.randn(8, 8, requires_grad=True)

    def network(x, cache):
        for _ in range(6):
            x = (x @ w).tanh() @ v
            x = ja.nn.functional.gelu(x) + x.sin()
        cache.copy_(x.detach())
        return ja.nn.functional.softmax(x, -1).square().sum()

    return ja.explain(network, ja.randn(4, 8), ja.zeros(4, 8))


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "network.html"
    network().save_html(path)
    return path.as_uri()


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser, file):
    """Opens the page at a width and a colour scheme, and fails if it complains or loads anything else."""
    pages = []

    def open_at(width, scheme="light"):
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        said, asked = [], []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(file)
        pages.append((page, said, asked))
        return page

    yield open_at
    for page, said, asked in pages:
        page.close()
        assert not said and asked == [file]


def box(page, selector):
    return page.locator(selector).first.bounding_box()


def test_graphs_stand_side_by_side_where_there_is_room(opened):
    page = opened(1400)
    panes = [pane.bounding_box() for pane in page.locator("section .pane").all()]
    assert len(panes) == 3 and len({pane["y"] for pane in panes}) == 1
    assert panes[0]["x"] < panes[1]["x"] < panes[2]["x"]


@pytest.mark.parametrize("width", [400, 1400])
def test_nothing_is_wider_than_the_window(opened, width):
    page = opened(width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if width == 400:
        panes = [pane.bounding_box() for pane in page.locator("section .pane").all()]
        assert len({pane["x"] for pane in panes}) == 1 and panes[0]["y"] < panes[1]["y"] < panes[2]["y"]


def test_a_saved_value_lights_up_in_both_graphs_and_in_the_source(opened):
    page = opened(1400)
    button = page.locator(".value").first
    names = set(button.get_attribute("data-saved").split())  # those of all repeats
    assert not page.locator(".lit").count()
    button.click()
    for pane in ("source", "forward", "backward"):
        lit = page.locator(f'[aria-label="{pane}"] .row.lit')
        assert lit.count() >= 1 and names & set(lit.first.get_attribute("data-saved").split())
        inside = page.evaluate(
            """pane => { const box = document.querySelector(`[aria-label="${pane}"]`), row = box.querySelector(".lit");
            const a = box.getBoundingClientRect(), b = row.getBoundingClientRect();
            return b.top >= a.top - 1 && b.bottom <= a.bottom + 1; }""",
            pane,
        )
        assert inside, f"{pane} did not move to what lit up"
    assert button.get_attribute("aria-pressed") == "true"
    page.keyboard.press("Escape")
    assert not page.locator(".lit").count() and button.get_attribute("aria-pressed") == "false"


def test_all_of_it_is_reached_by_keys(opened):
    page = opened(1400)
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search"
    page.keyboard.type("TANH")
    n = int(page.locator("#found").inner_text().split()[0])
    assert n == page.locator(".hit").count() > 6
    page.keyboard.press("Enter")
    assert page.locator("#found").inner_text() == f"1 of {n}" and page.locator(".hit.here").count() == 1
    page.keyboard.press("Shift+Enter")
    assert page.locator("#found").inner_text() == f"{n} of {n}"
    page.keyboard.press("Escape")
    assert not page.locator(".hit").count()
    seen = set()
    for _ in range(200):
        page.keyboard.press("Tab")
        pane = page.evaluate("document.activeElement.closest('.code')?.getAttribute('aria-label')")
        if pane and pane not in seen:
            seen.add(pane)
            before = page.evaluate("document.activeElement.textContent")
            page.keyboard.press("ArrowDown")
            assert page.evaluate("document.activeElement.textContent") != before
            page.keyboard.press("Enter")
            assert page.locator(".near, .lit").count()
            page.keyboard.press("Escape")
        if page.evaluate("document.activeElement.tagName") == "BODY":
            break
    assert seen == {"source", "forward", "backward"}


def test_the_memory_says_what_runs_and_a_click_goes_to_its_equation_and_line(opened):
    page = opened(1400)
    plot, tip = page.locator(".plot"), page.locator(".tip")
    assert not tip.is_visible()
    plot.hover()
    assert tip.is_visible() and "in use" in tip.inner_text() and "equation" in tip.inner_text()
    plot.click()
    row = page.locator(".row.chosen")
    assert row.count() == 1 and row.is_visible()
    assert row.locator(".text").inner_text()[:40] in tip.text_content()
    assert row.get_attribute("data-place") in tip.text_content()
    assert page.locator('[aria-label="source"] .row.near').count() == 1


def test_keys_go_along_the_memory_and_into_folded_repeats(opened):
    page = opened(400)
    plot = page.locator(".plot")
    plot.focus()
    page.keyboard.press("Home")
    assert plot.get_attribute("aria-valuenow") == "0"
    page.keyboard.press("ArrowRight")
    assert plot.get_attribute("aria-valuenow") == "1"
    fold = page.locator('[aria-label="forward"] .fold')
    assert fold.get_attribute("aria-expanded") == "false" and not page.locator(".more .eqn").first.is_visible()
    inside = page.evaluate("[...document.querySelectorAll('.eqn')].findIndex(row => row.closest('.more'))")
    for _ in range(inside - 1):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert fold.get_attribute("aria-expanded") == "true"
    assert page.evaluate("document.activeElement.closest('.more') !== null")
    fold.click()
    assert fold.get_attribute("aria-expanded") == "false"


def test_light_and_dark(opened):
    def luminance(page, element, which):
        colour = page.evaluate(f"getComputedStyle(document.querySelector('{element}')).{which}")
        parts = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for scheme, is_dark in (("light", False), ("dark", True)):
        page = opened(1400, scheme)
        page.locator(".value").first.click()
        for element in ("body", ".row.lit", ".row.crosses:not(.lit)", ".value"):
            ink, paper = luminance(page, element, "color"), "backgroundColor"
            ground = luminance(page, element, paper)
            contrast = (max(ink, ground) + 0.05) / (min(ink, ground) + 0.05)
            assert contrast >= 4.5, (scheme, element, contrast)
        assert (luminance(page, "body", "backgroundColor") < 0.5) == is_dark
