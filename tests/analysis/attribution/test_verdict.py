"""The verdict follows the amounts, and says nothing that they don't."""

import re
from dataclasses import replace

import numpy as np
import pytest

from playground.analysis.attribution import ScoreSplit, describe, group_amounts, judge, largest_pair
from playground.analysis.stream_sources import Source

SOURCES = (Source("token"), Source("position"), Source("attention", 0), Source("feed-forward", 0), Source("bias"))


def split(*by_key: float, other: float = 1.0) -> ScoreSplit:
    """A split whose lead over another key comes from these amounts, all through the query's token."""
    relative = np.zeros((5, 5))
    relative[0] = by_key
    return ScoreSplit(SOURCES, relative, relative, other + sum(by_key), other, 2)


@pytest.mark.parametrize(
    ("amounts", "kind", "largest"),
    [
        ((3.0, 0.5, 0, 0, 0), "mostly", "token"),
        ((0.1, -2.0, 0, 0.2, 0), "mostly", "position"),
        ((0, 0.3, 0.2, 1.0, 0.1), "mostly", "feed-forward"),
        ((1.0, 0.9, 0.8, 0, 0), "mixed", "token"),
        ((-1.0, 0.6, 0.6, 0, 0), "mixed", "token"),
        ((1.0, -0.98, 0, 0, 0), "even", "token"),
        ((0, 0, 0, 0, 0), "even", "token"),
        ((np.nan, 0, 0, 0, 1.0), "not finite", None),
    ],
)
def test_half_of_all_pushes_and_pulls_is_most(amounts: tuple[float, ...], kind: str, largest: str | None) -> None:
    found = judge(split(*amounts), 4)
    assert found.kind == kind
    assert largest is None or found.largest == largest
    assert found.share == pytest.approx(max(map(abs, amounts)) / (sum(map(abs, amounts)) or 1), nan_ok=True)


def test_what_pulls_the_other_way_is_never_the_reason() -> None:
    assert judge(split(-1.0, 0.4, 0.4, 0.4, 0), 4).kind == "mixed"
    assert judge(split(-3.0, 0.9, 0.9, 0, 0), 4).kind == "mostly", "it explains a score below the opponent's"


def test_an_only_key_needs_no_reason() -> None:
    assert judge(split(3.0, 0, 0, 0, 0), 1).kind == "only key"


def test_layers_are_added_up_and_groups_without_a_source_left_out() -> None:
    sources = (Source("attention", 0), Source("attention", 1), Source("segment"), Source("bias"))
    assert group_amounts(sources, np.array([1.0, 2.0, 3.0, -1.0])) == {"attention": 3.0, "others": 2.0}


@pytest.mark.parametrize("sign", [1, -1])
def test_the_largest_pair_is_so_by_size_whichever_way_it_pulls(sign: int) -> None:
    relative = sign * np.array([[1.0, -5.0], [2.0, 3.0]])
    query, key, amount = largest_pair(ScoreSplit(SOURCES[:2], relative, relative, sign * 1.0, 0.0))
    assert (query.name, key.name, amount) == ("token", "position", -5 * sign)


def test_a_sentence_names_the_amounts_that_count() -> None:
    said = describe(judge(split(3.0, 0.5, 0, 0, 0.01), 4), 3.51)
    assert "+3.51" in said
    assert "+3.00" in said
    assert "+0.50" in said
    assert "the rest +0.01" in said


@pytest.mark.parametrize(
    "amounts", [(1.64, 1.18, 0.93, -0.56, 0.17), (3.0, 0.2, -0.2, 0, 0), (-3.0, 0.2, 0.2, 0.1, 0), (3.0, 0, 0, 0, 0)]
)
@pytest.mark.parametrize("remainder", [0.0, 0.04])
def test_the_amounts_of_a_sentence_add_up_to_its_lead(amounts: tuple[float, ...], remainder: float) -> None:
    whole = split(*amounts)
    found = replace(whole, score=whole.score + remainder)
    lead, *told = map(float, re.findall(r"[+-]\d+\.\d+", describe(judge(found, 4), found.lead)))
    assert sum(told) == pytest.approx(lead, abs=0.03)
    assert 0 not in told


def test_sources_that_do_not_add_up_are_no_reason() -> None:
    relative = np.zeros((5, 5))
    relative[0, 0] = 3.0
    for score, kind in ((4.2, "mostly"), (5.0, "rounding")):
        assert judge(ScoreSplit(SOURCES, relative, relative, score, 1.0), 4).kind == kind
