"""What cannot apply is refused in one sentence, and the rest applies."""

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from playground import Encoder
from playground.model.change_texts import name_change
from playground.model.changes import KINDS, PATCH_POINTS, SUBLAYERS, Change, Subject
from playground.model.interventions import InterventionTrace, divide_changes
from tests.changes import made, several
from tests.model.reference import small_config


def subject(lengths: tuple[int, ...] = (4, 4, 3), sentence: int = 0, *, causal: bool = False, **fields: Any) -> Subject:
    """A sentence padded to six tokens, for 2 layers of 3 heads."""
    allowed = (torch.arange(6) < lengths[sentence]).expand(6, 6)
    return Subject(small_config(**fields), allowed.tril() if causal else allowed, lengths, sentence)


def divide(wanted: Sequence[Change], here: Subject | None = None) -> tuple[tuple[Change, ...], list[str]]:
    applied, refused = divide_changes(here or subject(), tuple(wanted))
    return applied, [reason for _, reason in refused]


POSSIBLE = several(
    "1.2:zero 0.*:mean~0.5 1.ffn:off 0.2:force_3_3 1.*:hide_3 0.1:copy_3_0 1.*:diagonal_* positions:shuffle_7 "
    "embed:patch_2_2 1.2.z:patch_*_1"
)


NOT_THERE = [
    *several(
        "2.0:zero 0.3:zero 7.attn:off 0.0:cut_4_0 0.0:cut_0_4 0.3:cut_0_0 2.0:hide_0 0.3:hide_0 0.0:hide_4 "
        "0.0:uniform_5 0.0:copy_0_0 0.0:copy_0_3 0.out:patch_4_2 0.out:patch_0_3 0.out:patch_0_4 0.out:patch_0_0 "
        "5.z:patch_0_2"
    ),
    Change("zero", -1, 0),
    Change("zero"),
    Change("mean", 0, -1),
    Change("copy", 0, 0, (0, None)),
    Change("patch", 0, None, ("embed", 0, 0)),
    Change("patch", None, None, ("out", 0, 0)),
    Change("patch", 0, 0, ("out", 0, 1)),
]


@pytest.mark.parametrize("wanted", NOT_THERE, ids=str)
def test_what_is_not_there_is_refused_and_the_rest_applies(wanted: Change) -> None:
    applied, sentences = divide([*POSSIBLE, wanted])
    assert applied == tuple(POSSIBLE)
    assert len(sentences) == 1
    assert name_change(wanted) in sentences[0]


@pytest.mark.parametrize(
    ("wanted", "here", "reason"),
    [
        ("positions:shuffle_1", subject(positions="none"), "no positions"),
        ("0.0:force_1_2", subject(causal=True), "mask hides token 2 from token 1"),
        ("0.out:patch_0_3", subject(), "4 and 3 tokens"),
    ],
)
def test_what_the_model_or_the_mask_has_not_is_refused(wanted: str, here: Subject, reason: str) -> None:
    applied, (sentence,) = divide([made(wanted)], here)
    assert applied == ()
    assert reason in sentence


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (made("0.1:zero"), made("0.*:mean")),
        (made("0.1:zero"), made("0.1:zero")),
        (made("0.ffn:off"), made("0.ffn:off~0.5")),
        (made("0.1:cut_2_3"), made("0.*:force_2_3")),
        (made("0.1:weight_2_3_0.4"), made("0.1:weight_2_0_0.4")),
        (made("0.1:weight_2_3_0.4"), made("0.*:hide_3")),
        (made("0.1:hide_3"), made("0.*:hide_3")),
        (made("0.1:uniform_2"), made("0.1:diagonal_*")),
        (made("positions:shuffle_1"), made("positions:shuffle_2")),
        (made("0.z:patch_*_1"), made("0.1.z:patch_2_2")),
    ],
)
def test_of_two_that_set_the_same_numbers_the_first_applies(first: Change, second: Change) -> None:
    applied, sentences = divide([first, second])
    assert applied == (first,)
    assert len(sentences) == 1
    assert name_change(first) in sentences[0]


SMALL = st.integers(-1, 4)
HEADS = st.none() | SMALL
SHARES = st.sampled_from([0.0, 0.3, 1.0])
ARGS: dict[str, st.SearchStrategy[Any]] = {
    "query": HEADS,
    "key": SMALL,
    "weight": SHARES,
    "source": HEADS,
    "sublayer": st.sampled_from(list(SUBLAYERS)),
    "seed": SMALL.map(abs),
    "point": st.sampled_from(list(PATCH_POINTS)),
    "sentence": SMALL,
}


@st.composite
def any_change(draw: st.DrawFn) -> Change:
    kind = draw(st.sampled_from(list(KINDS)))
    layer = draw(SMALL if kind != "shuffle" else HEADS)
    return Change(kind, layer, draw(HEADS), tuple(draw(ARGS[name]) for name in KINDS[kind].args), draw(SHARES))


@given(st.lists(any_change(), max_size=8), st.booleans())
def test_whatever_is_left_applies_and_gives_numbers(wanted: list[Change], causal: bool) -> None:
    here = subject((4, 4, 3), causal=causal)
    applied, sentences = divide(wanted, here)
    assert len(applied) + len(sentences) == len(wanted)
    model, ids = Encoder(here.config, seed=1), torch.tensor([[1, 2, 3, 4, 0, 0]])
    real = torch.arange(6)[None] < 4
    sources = {i: InterventionTrace([[]], real) for i in range(2)}
    for i, source in sources.items():
        model(ids + i, here.allowed[None], source)
    trace = InterventionTrace(
        [applied],
        real,
        positions=model.embed.position_vectors(6),
        sources={i: {name: tensor[0] for name, tensor in source.items()} for i, source in sources.items()},
    )
    assert model(ids, here.allowed[None], trace)[:, :4].isfinite().all()
    for layer in {0, 1} - {each.layer for each in applied if each.kind == "weight_after"}:
        pattern = trace[f"layers.{layer}.attn.pattern"][0, :, :4]
        torch.testing.assert_close(pattern.sum(-1), torch.ones(3, 4))
        assert not pattern[:, ~here.allowed[:4]].any()
