"""A cell's products, rivals and what it moves, against the model's own numbers; the verdict follows the amounts."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from playground import Encoder, ModelConfig
from playground.analysis.attribution import ScoreSplit, destination, head_maps, judge, move, rank_keys
from playground.analysis.streams import Source
from playground.model.blocks import EncoderBlock
from playground.text import characters
from tests.analysis.walks import small_encoder, walk_through
from tests.model.strategies import configs


def block_of(encoder: Encoder, layer: int) -> EncoderBlock:
    block = encoder.layers[layer]
    assert isinstance(block, EncoderBlock)
    return block


@pytest.mark.parametrize("causal", [False, True])
def test_the_softmax_is_the_competition(causal: bool) -> None:
    walk = walk_through(small_encoder(), 0, 1, 3, 2, causal=causal)
    found, pattern = rank_keys(walk), walk.of_query("attn.pattern")
    assert sorted(found) == list(range(4 if causal else 6))
    assert [*found.values()] == sorted(found.values(), reverse=True)
    np.testing.assert_allclose([*found.values()], pattern[[*found]])


def test_a_single_key_has_no_rival_and_a_hidden_one_does_not_compete() -> None:
    assert rank_keys(walk_through(small_encoder(), 0, 0, 0, 0, causal=True)) == {0: 1}
    with pytest.raises(ValueError, match="hidden"):
        rank_keys(walk_through(small_encoder(), 0, 0, 0, 3, causal=True))


@given(config=configs(vocab_size=characters().vocab_size), data=st.data())
def test_what_a_weight_moves_is_what_the_model_loses_without_it(config: ModelConfig, data: st.DataObject) -> None:
    """Attention's output with the one weight at 0 differs by what that weight wrote, at the token it was written to."""
    encoder = small_encoder(**vars(config))
    layer, head = data.draw(st.integers(0, config.n_layers - 1)), data.draw(st.integers(0, config.n_heads - 1))
    walk = walk_through(encoder, layer, head, data.draw(st.integers(0, 5)), data.draw(st.integers(0, 5)))
    token, piece = destination(walk)
    shares, length, written, whole_share = move(walk, head_maps(encoder, layer, head, piece))
    attn = block_of(encoder, layer).attn
    pattern = torch.tensor(walk.layer["attn.pattern"])[None].clone()
    v = torch.tensor(walk.layer["attn.v"])[None]
    with torch.no_grad():
        whole = attn.o(attn.merge(pattern @ v))[0]
        pattern[0, head, walk.query, walk.key] = 0
        lost = (whole - attn.o(attn.merge(pattern @ v))[0]).numpy()
    lengths = np.linalg.norm(lost, axis=-1)
    assert written == pytest.approx(lengths.max(), abs=1e-9)
    if lengths.max() > 1e-9:
        assert int(lengths.argmax()) == token
    output = walk.layer["attn.out"][token]
    assert whole_share == pytest.approx(lost[token] @ output / (output @ output), abs=1e-7)
    z = walk.of_query("attn.z")
    assert length == pytest.approx(np.linalg.norm(walk.layer["attn.v"][head, walk.key]))
    assert shares.sum() == pytest.approx(1)
    share = walk.of_query("attn.pattern")[walk.key] * walk.layer["attn.v"][head, walk.key] @ z / (z @ z)
    assert shares[walk.key] == pytest.approx(share, abs=1e-7)


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
        ((-1.0, 0.4, 0.4, 0.4, 0), "mixed", "token"),  # what pulls the other way is never the reason
        ((-3.0, 0.9, 0.9, 0, 0), "mostly", "token"),  # but of a score below the opponent's
        ((1.0, -0.98, 0, 0, 0), "even", "token"),
        ((0, 0, 0, 0, 0), "even", "token"),
        ((np.nan, 0, 0, 0, 1.0), "unknown", None),
    ],
)
def test_half_of_all_pushes_and_pulls_is_most(amounts: tuple[float, ...], kind: str, largest: str | None) -> None:
    found = split(*amounts)
    assert judge(found, 4) == kind
    assert largest is None or next(iter(found.amounts)) == largest


def test_an_only_key_needs_no_reason() -> None:
    assert judge(split(3.0, 0, 0, 0, 0), 1) == "only"


def test_sources_that_do_not_add_up_are_no_reason() -> None:
    relative = np.zeros((5, 5))
    relative[0, 0] = 3.0
    for score, kind in ((4.2, "mostly"), (5.0, "unknown")):
        assert judge(ScoreSplit(SOURCES, relative, relative, score, 1.0), 4) == kind
