"""Interventions survive a link, and whatever else stands there is told of in a sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.errors import InterventionError
from playground.link.interventions import MAX_INTERVENTIONS, Change, read_changes, write_changes
from playground.link.interventions.read_interventions import read_intervention
from playground.model.interventions import (
    AverageHead,
    HideToken,
    Intervention,
    PatchVector,
    SetRow,
    SetWeight,
    ShufflePositions,
    SkipSublayer,
    ZeroHead,
)
from playground.model.interventions.intervention_kinds import HEAD_POINTS, PATCH_POINTS, SUBLAYERS, PatchPoint

NUMBER = st.integers(0, 999_999_999)
ANY = st.none() | NUMBER
SHARE = st.floats(0, 1)
POINTS: list[PatchPoint] = [point for point in PATCH_POINTS if point not in (*HEAD_POINTS, "embed")]
SENTENCE = st.integers(0, 999_999_998)
INTERVENTIONS: st.SearchStrategy[Intervention] = st.one_of(
    st.builds(ZeroHead, NUMBER, ANY, SHARE),
    st.builds(AverageHead, NUMBER, ANY, SHARE),
    st.builds(SkipSublayer, NUMBER, st.sampled_from(SUBLAYERS), SHARE),
    st.builds(SetWeight, NUMBER, ANY, NUMBER, NUMBER, SHARE, st.booleans(), SHARE),
    st.builds(HideToken, NUMBER, ANY, NUMBER, SHARE),
    st.builds(SetRow, NUMBER, ANY, ANY, st.sampled_from(["uniform", "diagonal"]), st.none(), SHARE),
    st.builds(SetRow, NUMBER, ANY, ANY, st.just("copy"), NUMBER, SHARE),
    st.builds(ShufflePositions, NUMBER, SHARE),
    st.builds(PatchVector, st.none(), st.just("embed"), ANY, SENTENCE, st.none(), SHARE),
    st.builds(PatchVector, NUMBER, st.sampled_from(POINTS), ANY, SENTENCE, st.none(), SHARE),
    st.builds(PatchVector, NUMBER, st.sampled_from(HEAD_POINTS), ANY, SENTENCE, ANY, SHARE),
)

EXAMPLES: dict[str, Intervention] = {
    "3.1:zero": ZeroHead(3, 1),
    "3.*:zero~0.5": ZeroHead(3, None, 0.5),
    "0.11:mean": AverageHead(0, 11),
    "2.attn:off": SkipSublayer(2, "attn"),
    "2.ffn:off~0.25": SkipSublayer(2, "ffn", 0.25),
    "3.1:cut_4_7": SetWeight(3, 1, 4, 7, 0.0),
    "3.1:force_4_7_after": SetWeight(3, 1, 4, 7, 1.0, renormalise=False),
    "3.*:weight_4_7_0.25": SetWeight(3, None, 4, 7, 0.25),
    "3.1:hide_7": HideToken(3, 1, 7),
    "3.*:hide_7~0.5": HideToken(3, None, 7, 0.5),
    "3.1:uniform_4": SetRow(3, 1, 4, "uniform"),
    "3.*:diagonal_*": SetRow(3, None, None, "diagonal"),
    "3.1:copy_4_0": SetRow(3, 1, 4, "copy", 0),
    "positions:shuffle_7": ShufflePositions(7),
    "embed:patch_4_2": PatchVector(None, "embed", 4, 1),
    "3.mid:patch_*_1": PatchVector(3, "mid", None, 0),
    "3.1.z:patch_4_2": PatchVector(3, "z", 4, 1, head=1),
    "3.z:patch_4_2": PatchVector(3, "z", 4, 1),
}


@pytest.mark.parametrize(("text", "intervention"), EXAMPLES.items())
def test_the_text_of_each_kind_is_frozen(text: str, intervention: Intervention) -> None:
    assert write_changes([Change(intervention)]) == text
    assert read_changes(text) == ((Change(intervention),), [])
    assert read_changes(f"-{text}") == ((Change(intervention, is_on=False),), [])


def test_every_head_off_is_attention_off() -> None:
    assert read_changes("3.1:zero,2.*:off") == ((Change(ZeroHead(3, 1)), Change(SkipSublayer(2, "attn"))), [])


CHANGES = st.builds(Change, INTERVENTIONS, st.booleans())


@given(st.lists(CHANGES, max_size=MAX_INTERVENTIONS, unique_by=lambda change: change.intervention))
def test_what_is_written_is_read_back(changes: list[Change]) -> None:
    assert read_changes(write_changes(changes)) == (tuple(changes), [])


def test_a_change_stands_there_once() -> None:
    assert read_changes("3.1:zero,-3.1:zero,3.1:zero") == ((Change(ZeroHead(3, 1)),), [])


@given(st.text(max_size=60) | st.text(alphabet="0123456789.*:~_,-e attnzerofpch", max_size=60))
def test_junk_is_read_or_told_of(text: str) -> None:
    found, sentences = read_changes(text)
    n_items = sum(1 for item in text.split(",") if item)
    assert len(sentences) <= n_items
    assert len(found) + len(sentences) >= min(n_items, 1)
    assert all("\n" not in sentence for sentence in sentences)
    assert read_changes(write_changes(found)) == (found, [])


@pytest.mark.parametrize(
    "text",
    ["", "zero", "3:zero", "3.1:", "3.1:zero~", "3.1:zero~2", "3.1:zero~nan", "3.1:zero~1.2.3", "3.1:zero~-1",
     "-1.0:zero", "3.1:off", "٣.1:zero", "3.1:cut_4", "3.1:cut_4_7_0.5", "3.1:weight_4_7", "3.1:weight_4_7_7",
     "3.1:copy_4", "3.1:uniform_4_0", "positions:shuffle", "embed:patch_4", "3.embed:patch_4_2", "3.1.mid:patch_4_2",
     "3.1:zero\n", "9999999999.1:zero", "3.1:force_*_7", "3.1:hide_*", "3.1:hide_7_after", "3.1:zero~0.5~0.5"],
)  # fmt: skip
def test_what_is_no_intervention_is_refused(text: str) -> None:
    with pytest.raises(InterventionError, match="is not a change"):
        read_intervention(text)


def test_the_readable_rest_applies_and_a_link_holds_only_so_many() -> None:
    found, sentences = read_changes("3.1:zero,<b>,2.ffn:off")
    assert found == (Change(ZeroHead(3, 1)), Change(SkipSublayer(2, "ffn")))
    assert len(sentences) == 1
    assert "<" not in sentences[0]
    many = ",".join(f"{i}.1:zero" for i in range(10 * MAX_INTERVENTIONS))
    found, sentences = read_changes(many)
    assert (len(found), len(sentences)) == (MAX_INTERVENTIONS, 1)


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("3.1:zero@0.5", "“3.1:zero@0.5”"),
        ("3.1:zro", "“3.1:zro”"),
        ("https://evil.com", "“https//evil.com”"),
        ("a:b@evil.com", "“abevil.com”"),
        (":red[x]", "“redx”"),
        (":a:", "“a”"),
    ],
)
def test_what_is_no_change_is_quoted_as_it_was_written_where_that_can_be_no_markdown(text: str, quoted: str) -> None:
    with pytest.raises(InterventionError) as caught:
        read_intervention(text)
    assert quoted in str(caught.value)
