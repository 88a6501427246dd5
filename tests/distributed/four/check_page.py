"""The page for users on many devices runs as it stands, and prints what it shows, on four devices."""

import pathlib

import pytest

from tests.test_pages import listings

ROOT = pathlib.Path(__file__).parents[3]


@pytest.mark.slow
@pytest.mark.parametrize("page", listings.ON_FOUR_DEVICES)
def test_the_listings_print_what_the_page_shows(page, tmp_path, optimized):
    for listing, printed in listings.run(ROOT / page, tmp_path):
        assert listings.masked(printed) == listings.masked(listing.shown or ""), f"{page}:{listing.line}"
