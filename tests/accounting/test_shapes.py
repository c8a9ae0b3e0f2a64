"""The shapes and the drawing's boxes are those of a real pass, and hold every parameter once."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from playground import Encoder, ModelConfig, Trace, count_parameters
from playground.accounting.shapes import list_shapes, list_stages
from playground.model import causal_and_padding
from tests.model.strategies import configs

Shape = tuple[int, ...]

BETWEEN: dict[str, Callable[[dict[str, Shape], str, ModelConfig], Shape]] = {
    ".mean": lambda seen, at, _: (*seen[f"{at}.normalized"][:-1], 1),
    ".projected": lambda seen, at, _: (seen[at][0], seen[at][2], seen[at][1] * seen[at][3]),
    ".reshaped": lambda seen, at, _: tuple(seen[at][axis] for axis in (0, 2, 1, 3)),
    ".permuted": lambda seen, at, _: tuple(seen[at][axis] for axis in (0, 2, 1, 3)),
    ".products": lambda seen, at, _: seen[f"{at}.scores"],
    ".merged": lambda seen, at, config: (*seen[f"{at}.out"][:2], config.n_heads * config.head_width),
}
BETWEEN |= dict.fromkeys((".std", ".rms"), BETWEEN[".mean"])
"""The shape of a step that a trace does not note, by how its name ends, from the shapes that it notes."""


@given(configs(), st.integers(1, 3), st.integers(1, 6), st.booleans())
def test_every_shape_is_that_of_a_real_pass(config: ModelConfig, n_sentences: int, n_tokens: int, causal: bool) -> None:
    model, trace = Encoder(config), Trace()
    ids = torch.zeros(n_sentences, n_tokens, dtype=torch.int64)
    keys = torch.ones(n_sentences, n_tokens, dtype=torch.bool)
    mask = causal_and_padding(keys) if causal else keys
    model(ids, mask, trace)
    told = list_shapes(config, n_sentences, n_tokens, causal)
    seen = {name: tuple(tensor.shape) for name, tensor in trace.items()}
    computed = {name: shape for name, shape in seen.items() if not name.endswith(".in")}  # inputs repeat
    assert [(name, shape) for name, shape in told if name in trace] == list(computed.items())
    seen |= {name.removesuffix("_projected"): seen[name] for name in seen if name.endswith("_projected")}
    for name, shape in told:
        at, _, ending = name.rpartition(".")
        if name not in trace and f".{ending}" in BETWEEN and ".qkv" not in name:
            assert shape == BETWEEN[f".{ending}"](seen, at, config), name
    assert len(dict(told)) == len(told)


@given(config=configs(), n_tokens=st.integers(1, 9))
def test_boxes_add_up_to_the_model(config: ModelConfig, n_tokens: int) -> None:
    boxes = list_stages(config, n_tokens)
    times = [config.n_layers if box.in_block and not config.share_layers else 1 for box in boxes]
    left_out = 0  # the boxes of blocks are the last one's
    if config.has_norm1(config.n_layers - 1) and not config.has_norm1(0) and config.norm != "none":
        left_out = next(box.parameters for box in boxes if box.in_block)
    added_up = sum(n * box.parameters for n, box in zip(times, boxes, strict=True)) - left_out
    assert added_up == count_parameters(config).total
    assert sum(box.share for box in boxes) == pytest.approx(1)
    assert all(box.title for box in boxes)
    inside = [i for i, box in enumerate(boxes) if box.in_block]
    assert inside == list(range(inside[0], inside[-1] + 1))
    assert (boxes[0].component, boxes[-1].component) == (None, None)


def test_a_fused_map_writes_queries_keys_and_values_side_by_side() -> None:
    config = ModelConfig(vocab_size=5, d_model=8, n_heads=2, d_head=3, n_layers=1, fused_qkv=True)
    fused = {name: shape for name, shape in list_shapes(config, 2, 4) if ".qkv" in name}
    assert list(fused.values()) == [(2, 4, 18), (2, 4, 2, 9), (2, 2, 4, 9)]
