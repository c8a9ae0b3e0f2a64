"""Names that cannot be mistaken for markup, bars that add up, colours that can be seen."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.charts import palette
from playground.charts.draw import bars as labelled
from playground.charts.names import escape, label, token_names


@given(st.lists(st.sampled_from(["it", "it₁", "1", "", "<b>", "[PAD]"]), max_size=300))
def test_token_labels_are_unique_and_end_in_the_position(tokens: list[str]) -> None:
    labels = list(map(escape, token_names(tokens)))
    digits = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
    for i, (token, shown) in enumerate(zip(tokens, labels, strict=True)):
        assert shown.startswith(label(token))
        assert shown.removeprefix(label(token)).translate(digits) == str(i)


@pytest.mark.parametrize("word", ["שלום", "مرحبا", "a שלום"])
def test_a_name_from_right_to_left_ends_before_its_position(word: str) -> None:
    assert token_names(["it", word]) == ["it₀", f"\u2068{word}\u2069₁"]


def test_contributions_keep_their_order_and_add_up_however_many_there_are() -> None:
    generator = np.random.default_rng(0)
    for n in (1, 5, labelled.MOST_BARS - 1, labelled.MOST_BARS, labelled.MOST_BARS + 1, 60):
        amounts = generator.standard_normal(n)
        names = [f"layer {i} attention" for i in range(n)]
        bars = labelled.contributions(names, ["attention"] * n, amounts, "part")
        assert sum(bars["values"]) == pytest.approx(amounts.sum(), abs=1e-5)
        assert len(bars["values"]) == min(n, labelled.MOST_BARS)
        assert (bars["labels"][-1] in names) == (n <= labelled.MOST_BARS), "no bar stands for one other alone"
        if n > labelled.MOST_BARS:
            assert bars["labels"][-1] == f"{n - labelled.MOST_BARS + 1} others"


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
