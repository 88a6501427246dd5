"""The documentation can be read: no long lines, no long paragraphs, no long sentences."""

import pathlib
import re

import pytest

from tests.cases import each

ROOT = pathlib.Path(__file__).parents[1]
PAGES = sorted([
    *ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "benchmarks").glob("*.md"),
    *(ROOT / "jaxaot").rglob("README.md"),
])  # fmt: skip

MAX_COLUMNS, MAX_LINES, MAX_WORDS = 120, 6, 40

BY_PAGE = each("page", PAGES)


def prose(text):
    """Yields (line number, lines) of each paragraph and list item; code, tables and headings are left out."""
    paragraph, start, is_code = [], 0, False
    for number, line in enumerate([*text.split("\n"), ""], 1):
        is_fence = line.lstrip().startswith("```")
        starts_item = re.match(r"\s*([-*]|\d+\.)\s", line)
        if (is_fence or is_code or not line.strip() or line.startswith(("|", "#", "<")) or starts_item) and paragraph:
            yield start, paragraph
            paragraph = []
        is_code ^= is_fence
        if is_fence or is_code or not line.strip() or line.startswith(("|", "#", "<")):
            continue
        if not paragraph:
            start = number
        paragraph.append(line)


def sentences(lines):
    """Yields the sentences of a paragraph, code in backticks counted as one word."""
    text = re.sub(r"\]\([^)]*\)", "]", " ".join(lines))
    text = re.sub(r"`[^`]*`", "Code", text)
    yield from re.split(r"(?<=[.!?:;])\s+(?=[^a-z])", text)


def long_ones(text):
    """Returns what is too long in a page: one line of words each."""
    found = [f"line {start}: {len(lines)} lines" for start, lines in prose(text) if len(lines) > MAX_LINES]
    for start, lines in prose(text):
        found += [f"line {start + i}: {len(x)} columns" for i, x in enumerate(lines) if len(x) > MAX_COLUMNS]
        for sentence in sentences(lines):
            n = len(re.findall(r"[\w'’-]+", sentence))
            if n > MAX_WORDS:
                found.append(f"line {start}: {n} words: {sentence[:60]}…")
    return found


@BY_PAGE
def test_pages_are_short_of_breath(page):
    found = long_ones(page.read_text())
    assert not found, f"{page.name}\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("word " * 41 + ".", "words"),
        ("\n".join(["A line."] * 7), "7 lines"),
        ("x" * 121, "121 columns"),
        ("- " + "word " * 41 + "\n- short", "words"),
    ],
)
def test_the_check_finds_what_is_long(text, words):
    assert words in "".join(long_ones(text))


def test_the_check_leaves_tables_and_code_alone():
    assert long_ones("| " + "word " * 60 + "|\n```\n" + "word " * 60 + "\n```\n") == []
