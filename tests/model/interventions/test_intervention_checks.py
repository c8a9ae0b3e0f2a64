"""What cannot apply is refused in one sentence, and the rest applies."""

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from playground import Encoder
from playground.errors import InterventionError, PlaygroundError
from playground.model.interventions import (
    AverageHead,
    HideToken,
    Intervention,
    InterventionTrace,
    PatchVector,
    SetRow,
    SetWeight,
    ShufflePositions,
    SkipSublayer,
    Subject,
    ZeroHead,
)
from playground.model.interventions.intervention_kinds import PATCH_POINTS, ROW_KINDS, SUBLAYERS
from tests.model.reference import small_config


def subject(lengths: tuple[int, ...] = (4, 4, 3), sentence: int = 0, *, causal: bool = False, **fields: Any) -> Subject:
    """A sentence padded to six tokens, for 2 layers of 3 heads."""
    allowed = (torch.arange(6) < lengths[sentence]).expand(6, 6)
    return Subject(small_config(**fields), allowed.tril() if causal else allowed, lengths, sentence)


POSSIBLE: list[Intervention] = [
    ZeroHead(1, 2),
    AverageHead(0, None, 0.5),
    SkipSublayer(1, "ffn"),
    SetWeight(0, 2, 3, 3, 1.0),
    HideToken(1, None, 3),
    SetRow(0, 1, 3, "copy", 0),
    SetRow(1, None, None, "diagonal"),
    ShufflePositions(7),
    PatchVector(None, "embed", 2, 1),
    PatchVector(1, "z", None, 0, head=2),
]


def test_what_is_possible_applies_in_its_order() -> None:
    applied, sentences = subject().split(POSSIBLE)
    assert applied == tuple(POSSIBLE)
    assert sentences == []


@pytest.mark.parametrize(
    "wanted",
    [
        ZeroHead(2, 0), ZeroHead(-1, 0), ZeroHead(0, 3), AverageHead(0, -1), SkipSublayer(7, "attn"),
        ZeroHead(0, 0, 1.5), ZeroHead(0, 0, float("nan")), SetWeight(0, 0, 0, 0, 2.0), SetWeight(0, 0, 0, 0, -0.1),
        SetWeight(0, 0, 4, 0, 0.0), SetWeight(0, 0, 0, 4, 0.0), SetWeight(0, 3, 0, 0, 0.0),
        HideToken(2, 0, 0), HideToken(0, 3, 0), HideToken(0, 0, 4), HideToken(0, 0, 0, -1.0),
        SetRow(0, 0, 5, "uniform"), SetRow(0, 0, 0, "copy", 0), SetRow(0, 0, 0, "copy", 3), SetRow(0, 0, 0, "copy"),
        SetRow(0, 0, 0, "uniform", 1), PatchVector(0, "embed", 0, 0), PatchVector(None, "out", 0, 0),
        PatchVector(0, "out", 4, 1), PatchVector(0, "out", 0, 2), PatchVector(0, "out", 0, 3),
        PatchVector(0, "out", 0, -1), PatchVector(0, "out", 0, 1, head=0), PatchVector(5, "z", 0, 1),
    ],
    ids=lambda wanted: wanted.label,
)  # fmt: skip
def test_what_is_not_there_is_refused_and_the_rest_applies(wanted: Intervention) -> None:
    with pytest.raises(InterventionError):
        subject().check(wanted)
    applied, sentences = subject().split([*POSSIBLE, wanted])
    assert applied == tuple(POSSIBLE)
    assert len(sentences) == 1
    assert wanted.label in sentences[0]
    assert issubclass(InterventionError, PlaygroundError)


def test_what_the_model_or_the_mask_has_not_is_refused() -> None:
    with pytest.raises(InterventionError, match="no positions"):
        subject(positions="none").check(ShufflePositions(1))
    with pytest.raises(InterventionError, match="no two tokens"):
        subject((1,)).check(ShufflePositions(1))
    with pytest.raises(InterventionError, match="mask hides token 2 from token 1"):
        subject(causal=True).check(SetWeight(0, 0, 1, 2, 1.0))
    with pytest.raises(InterventionError, match="no other token may attend to token 3 anyway"):
        subject(causal=True).check(HideToken(0, 0, 3))
    with pytest.raises(InterventionError, match="4 and 3 tokens"):
        subject().check(PatchVector(0, "out", 0, 2))


def test_the_last_key_of_a_query_is_not_cut() -> None:
    cuts = [SetWeight(1, 0, 2, key, 0.0) for key in range(4)]
    applied, sentences = subject().split(cuts)
    assert applied == tuple(cuts[:3])
    assert len(sentences) == 1
    everywhere = [SetWeight(1, None, 2, key, 0.0) for key in range(3)]
    assert len(subject().split([*everywhere, SetWeight(1, 1, 2, 3, 0.0)])[0]) == 3
    after = [SetWeight(1, 0, 2, key, 0.0, renormalise=False) for key in range(4)]
    assert subject().split(after)[0] == tuple(after)
    with pytest.raises(InterventionError, match="no other key"):
        subject(causal=True).check(SetWeight(0, 0, 0, 0, 0.5))
    subject(causal=True).check(SetWeight(0, 0, 0, 0, 1.0))


def test_hidden_tokens_leave_every_query_a_key() -> None:
    hidden = [HideToken(1, None, key) for key in range(4)]
    assert subject().split(hidden) == (tuple(hidden), []), "each token still attends to itself"
    own = SetWeight(1, 0, 2, 2, 0.0)
    assert subject().split([*hidden, own])[0] == tuple(hidden)
    with pytest.raises(InterventionError, match="token 2 would have no other key"):
        subject().check(hidden[3], [own, *hidden[:2]])
    subject().check(HideToken(1, 1, 3), [own, *[HideToken(1, 0, key) for key in range(2)]])
    subject().check(HideToken(1, None, 3, 0.5), [own, HideToken(1, 0, 0)])
    with pytest.raises(InterventionError, match="token 1 would have no other key"):
        subject(causal=True).check(SetWeight(1, 0, 1, 1, 0.4), [HideToken(1, None, 0)])


def test_a_weight_needs_another_key_for_the_rest_of_the_row() -> None:
    half, full = SetWeight(1, 0, 2, 3, 0.5), SetWeight(1, 0, 2, 3, 1.0)
    cuts = [SetWeight(1, 0, 2, key, 0.0) for key in range(3)]
    assert subject().split([half, *cuts])[0] == (half, *cuts[:2])
    assert subject().split([full, *cuts])[0] == (full, *cuts)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (ZeroHead(0, 1), AverageHead(0, None)),
        (ZeroHead(0, 1), ZeroHead(0, 1)),
        (SkipSublayer(0, "ffn"), SkipSublayer(0, "ffn", 0.5)),
        (SetWeight(0, 1, 2, 3, 0.0), SetWeight(0, None, 2, 3, 1.0)),
        (SetWeight(0, 1, 2, 3, 0.4), SetWeight(0, 1, 2, 0, 0.4)),
        (SetWeight(0, 1, 2, 3, 0.4), HideToken(0, None, 3)),
        (HideToken(0, 1, 3), HideToken(0, None, 3)),
        (SetRow(0, 1, 2, "uniform"), SetRow(0, 1, None, "diagonal")),
        (ShufflePositions(1), ShufflePositions(2)),
        (PatchVector(0, "z", None, 0), PatchVector(0, "z", 2, 1, head=1)),
    ],
)
def test_of_two_that_set_the_same_numbers_the_first_applies(first: Intervention, second: Intervention) -> None:
    applied, sentences = subject().split([first, second])
    assert applied == (first,)
    assert len(sentences) == 1
    assert first.label in sentences[0]


def test_neighbours_do_not_contradict_each_other() -> None:
    pairs: list[Intervention] = [
        ZeroHead(0, 1), ZeroHead(0, 2), ZeroHead(1, 1), SkipSublayer(0, "attn"), SkipSublayer(0, "ffn"),
        SetWeight(0, 1, 2, 3, 0.4), SetWeight(0, 2, 2, 0, 0.4), SetWeight(0, 1, 2, 3, 0.4, renormalise=False),
        PatchVector(0, "z", 1, 0), PatchVector(0, "z", 2, 1), HideToken(0, 1, 2), SetWeight(0, 1, 2, 2, 0.0),
    ]  # fmt: skip
    assert subject().split(pairs) == (tuple(pairs), [])


SMALL = st.integers(-1, 4)
HEADS = st.none() | SMALL
SHARES = st.sampled_from([0.0, 0.3, 1.0, 1.2])
ANY = st.one_of(
    st.builds(ZeroHead, SMALL, HEADS, SHARES),
    st.builds(AverageHead, SMALL, HEADS, SHARES),
    st.builds(SkipSublayer, SMALL, st.sampled_from(SUBLAYERS), SHARES),
    st.builds(SetWeight, SMALL, HEADS, SMALL, SMALL, SHARES, st.booleans(), SHARES),
    st.builds(HideToken, SMALL, HEADS, SMALL, SHARES),
    st.builds(SetRow, SMALL, HEADS, HEADS, st.sampled_from(ROW_KINDS), HEADS, SHARES),
    st.builds(ShufflePositions, SMALL.map(abs), SHARES),
    st.builds(PatchVector, HEADS, st.sampled_from(list(PATCH_POINTS)), HEADS, SMALL, HEADS, SHARES),
)


@given(st.lists(ANY, max_size=8), st.booleans())
def test_whatever_is_left_applies_and_gives_numbers(wanted: list[Intervention], causal: bool) -> None:
    here = subject((4, 4, 3), causal=causal)
    applied, sentences = here.split(wanted)
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
    untouched = {each.layer for each in applied if isinstance(each, SetWeight | SetRow) and not _adds_to_1(each)}
    for layer in {0, 1} - untouched:
        pattern = trace[f"layers.{layer}.attn.pattern"][0, :, :4]
        torch.testing.assert_close(pattern.sum(-1), torch.ones(3, 4))
        assert not pattern[:, ~here.allowed[:4]].any()


def _adds_to_1(wanted: SetWeight | SetRow) -> bool:
    return isinstance(wanted, SetRow) or wanted.renormalise
