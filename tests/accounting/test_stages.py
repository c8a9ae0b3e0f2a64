"""The drawing's boxes hold every parameter and all of the work, once."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from playground import Encoder, ModelConfig, Trace, count_parameters
from playground.accounting.shapes import list_stages
from tests.model.strategies import configs


@given(config=configs(), n_tokens=st.integers(1, 9))
def test_boxes_add_up_to_the_model(config: ModelConfig, n_tokens: int) -> None:
    boxes = list_stages(config, n_tokens)
    times = [config.n_layers if box.in_block else 1 for box in boxes]
    assert sum(n * box.parameters for n, box in zip(times, boxes, strict=True)) == count_parameters(config).total
    assert sum(box.share for box in boxes) == pytest.approx(1)
    assert all(box.title for box in boxes)
    inside = [i for i, box in enumerate(boxes) if box.in_block]
    assert inside == list(range(inside[0], inside[-1] + 1))
    assert (boxes[0].component, boxes[-1].component) == (None, None)


def titles(**fields: object) -> list[str]:
    return [box.title for box in list_stages(ModelConfig(**{"vocab_size": 10, **fields}), 4)]  # type: ignore[arg-type]


A, F, N, ADD = "attention", "feed-forward", "norm", "add"
BLOCKS = {
    ("post", True, True): [(A, 1), (ADD, 1), (N, 0), (F, 2), (ADD, 2), (N, 0)],
    ("pre", True, True): [(N, 1), (A, 1), (ADD, 1), (N, 2), (F, 2), (ADD, 2)],
    ("post", True, False): [(A, 0), (N, 0), (F, 0), (N, 0)],
    ("pre", True, False): [(N, 0), (A, 0), (N, 0), (F, 0)],
    ("post", False, True): [(A, 1), (ADD, 1), (F, 2), (ADD, 2)],
    ("pre", False, True): [(A, 1), (ADD, 1), (F, 2), (ADD, 2)],
    ("post", False, False): [(A, 0), (F, 0)],
    ("pre", False, False): [(A, 0), (F, 0)],
}
"""A block's boxes by (norm placement, norm, residual), each with the residual connection that leads past it."""


@pytest.mark.parametrize(("placement", "norm", "residual"), BLOCKS)
@pytest.mark.parametrize("kind", ["layer", "scalar", "rms"])
@pytest.mark.parametrize("final_norm", [False, True])
def test_norms_and_sums_stand_where_the_block_computes_them(
    placement: str, norm: bool, residual: bool, kind: str, final_norm: bool
) -> None:
    fields = {"norm_placement": placement, "norm": kind if norm else "none", "residual": residual}
    fields |= {"d_model": 8, "n_heads": 2, "n_layers": 2, "d_ff": 16}
    config = ModelConfig(vocab_size=10, final_norm=final_norm, **fields)  # type: ignore[arg-type]
    boxes = list_stages(config, 4)
    block = BLOCKS[placement, norm, residual]
    assert [(box.title, box.residual) for box in boxes if box.in_block] == block
    ends = ["tokens", "embed", *["final norm"] * (final_norm and norm), "vectors"]
    assert [(box.title, box.residual) for box in boxes if not box.in_block] == [(end, 0) for end in ends]
    assert all(box.component is None for box in boxes if box.title == ADD)

    trace = Trace()
    Encoder(config)(torch.zeros(1, 4, dtype=torch.int64), trace=trace)
    points = {"attn.out": A, "ffn.out": F}
    points |= {"norm1.out": N, "norm2.out": N} if norm else {}
    points |= {"resid_mid": ADD, "resid_post": ADD} if residual else {}
    computed = [points[name] for name in (name.removeprefix("layers.0.") for name in trace) if name in points]
    assert computed == [title for title, _ in block]


def test_the_embeddings_norm_stands_behind_them() -> None:
    assert titles(embedding_norm=True)[:3] == ["tokens", "embed", "norm"]


def test_without_a_token_table_vectors_come_in() -> None:
    assert titles(vocab_size=0)[:3] == ["raw vectors", "positions", "attention"]
    assert titles(vocab_size=0, n_segments=2)[1] == "positions & segments"
    assert titles(vocab_size=0, positions="none")[:2] == ["raw vectors", "attention"]
    assert list_stages(ModelConfig(vocab_size=0, d_model=16, n_heads=4), 5)[0].shape == "(5, 16)"


def test_shapes_are_the_sentences_own() -> None:
    config = ModelConfig(vocab_size=10, d_model=12, n_heads=3, n_layers=2, d_ff=20)
    shapes = {box.title: box.shape for box in list_stages(config, 7)}
    assert shapes["embed"] == shapes["vectors"] == "(7, 12)"
    assert shapes["attention"] == "3 × (7, 7)"
    assert shapes["feed-forward"] == "(7, 20)"
