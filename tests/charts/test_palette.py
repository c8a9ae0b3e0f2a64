"""Colours of lines: each can be seen on a white and on a dark page."""

import pytest

from playground.charts import palette

PAGES = {"light": "#ffffff", "dark": "#17161c"}
LINES = (
    palette.POST_NORM, palette.PRE_NORM, palette.NO_NORM, palette.TRAINING, palette.VALIDATION, palette.BATCHES,
    palette.POST_NORM_ALONE, palette.PRE_NORM_ALONE, palette.NO_NORM_ALONE,
    *palette.CURVES, palette.RESIDUAL, *palette.REGULARISERS.values(),
)  # fmt: skip


def luminance(colour: str) -> float:
    """As WCAG 2 defines it."""
    parts = (byte / 255 for byte in bytes.fromhex(colour.removeprefix("#")))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("page", PAGES.values(), ids=list(PAGES))
@pytest.mark.parametrize("colour", sorted(set(LINES)))
def test_a_line_has_the_contrast_that_wcag_asks_of_graphics(colour: str, page: str) -> None:
    bright, dark = sorted((luminance(colour), luminance(page)), reverse=True)
    assert (bright + 0.05) / (dark + 0.05) >= 3


def test_no_two_of_what_one_chart_shows_share_a_colour() -> None:
    with_residual = (palette.POST_NORM, palette.PRE_NORM, palette.NO_NORM)
    assert len({*with_residual, palette.POST_NORM_ALONE, palette.PRE_NORM_ALONE, palette.NO_NORM_ALONE}) == 6
    assert palette.NO_NORM != palette.RESIDUAL, "which reads as something that is not chosen"
    assert len({palette.TRAINING, palette.VALIDATION, palette.BATCHES, palette.RESIDUAL}) == 4
