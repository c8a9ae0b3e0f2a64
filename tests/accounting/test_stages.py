"""The drawing's boxes hold every parameter and all of the work, once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground import ModelConfig, count_parameters
from playground.accounting.stages import list_stages
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


def test_post_norm_adds_and_normalises_after_each_sublayer() -> None:
    assert titles() == ["tokens", "embed", "attention", "add & norm", "feed-forward", "add & norm", "vectors"]


def test_pre_norm_normalises_before_each_sublayer() -> None:
    assert titles(norm_placement="pre", final_norm=True) == [
        "tokens", "embed", "norm", "attention", "add & norm", "feed-forward", "add", "final norm", "vectors",
    ]  # fmt: skip


def test_what_the_model_has_not_has_no_box() -> None:
    assert titles(norm="none", residual=False) == ["tokens", "embed", "attention", "feed-forward", "vectors"]
    assert titles(norm="none", norm_placement="pre") == [
        "tokens", "embed", "attention", "add", "feed-forward", "add", "vectors",
    ]  # fmt: skip
    assert "norm" in titles(embedding_norm=True)[2]


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
