"""Any model's attention as a page of its own: what it is drawn from, what is refused, how exact and large it is."""

import base64
import json
import re
import tomllib
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from playground import heads
from playground.errors import InputError
from playground.notebook import HeadMaps

TOKENS = ["[CLS]", "the", "bank", "rose"]
HOSTILE = ["</script><script>alert(1)</script>", "\"'&<b>{}", "שלום\u202e", "👩‍🚀\ud800"]


def random_patterns(*shape: int) -> NDArray[np.float32]:
    """Rows that sum to 1."""
    powers = np.exp(np.random.default_rng(0).normal(0, 2, shape)).astype(np.float32)
    rows: NDArray[np.float32] = powers / powers.sum(axis=-1, keepdims=True)
    return rows


def drawn_weights(maps: HeadMaps) -> NDArray[np.float64]:
    """The weights that the page draws: (1 or 2, L, H, Tq, Tk)."""
    (text,) = re.findall(r'id="data">(.*?)</script>', maps.html)
    data = json.loads(text)
    kind = np.dtype("<u2" if data["levels"] > 255 else "u1")
    numbers = np.frombuffer(zlib.decompress(base64.b64decode(data["weights"])), kind).reshape(data["shape"])
    weights: NDArray[np.float64] = (numbers.swapaxes(-1, -2) / data["levels"]) ** 2
    return weights


def test_every_form_of_the_same_patterns_is_drawn_alike_and_to_the_stated_precision() -> None:
    patterns = random_patterns(3, 2, 4, 4)
    tensors = tuple(torch.tensor(layer, requires_grad=True)[None] for layer in patterns)
    maps = heads(patterns, TOKENS)
    assert maps == heads(tensors, TOKENS) == heads(list(patterns), TOKENS) == heads(torch.stack(tensors), TOKENS)
    assert maps.precision < 2e-5
    assert re.fullmatch(r"3 layers × 2 heads, 4 tokens, \d+ kB", repr(maps))
    np.testing.assert_allclose(drawn_weights(maps)[0], patterns, atol=maps.precision)
    assert heads(patterns[0], TOKENS) == heads(patterns[:1], TOKENS)
    half = heads(torch.tensor(patterns).bfloat16(), TOKENS)
    np.testing.assert_allclose(drawn_weights(half)[0], patterns, atol=0.004)


def test_another_models_patterns_and_keys_of_their_own() -> None:
    patterns = random_patterns(2, 3, 4, 5)
    maps = heads(patterns, TOKENS, other=patterns[::-1], keys=[*TOKENS, "."])
    np.testing.assert_allclose(drawn_weights(maps), np.stack([patterns, patterns[::-1]]), atol=maps.precision)


@pytest.mark.long
@pytest.mark.parametrize(("layers", "levels"), [(6, 95), (12, 15)])  # at random; a model's weights compress better
def test_128_tokens_take_a_megabyte_in_a_notebook(layers: int, levels: int) -> None:
    patterns = random_patterns(layers, 12, 128, 128)
    maps = heads(patterns, ["token"] * 128)
    assert len(maps._repr_html_().encode()) <= 1_000_000
    assert maps.precision <= 1 / levels
    errors = np.abs(drawn_weights(maps)[0] - patterns)
    assert (errors <= np.sqrt(patterns) * maps.precision + maps.precision**2 / 4 + 1e-6).all()


P = random_patterns(2, 2, 4, 4)


@pytest.mark.parametrize(
    ("patterns", "options", "sentence"),
    [
        (None, {}, r"shape \(\) .* one sentence.* attn_implementation='eager'"),
        ([np.stack([layer, layer]) for layer in P], {}, r"shape \(2, 2, 2, 4, 4\)"),
        ([P[0], P[1, :1]], {}, "layers differ in shape"), ("patterns", {}, "no arrays of numbers"),
        (P[..., :3], {}, "3 keys: give a list of 3 tokens, not of 4"),
        (P, {"other": P[:1]}, r"one shape: these have \(2, 2, 4, 4\) and \(1, 2, 4, 4\)"), (P * np.nan, {}, "NaN"),
        (np.log(P), {}, "after the softmax"), (np.zeros((1, 4, 513)), {"keys": ["a"] * 513}, "At most 512 tokens"),
        (P, {"tokens": "The cat"}, "lists of names"), (P, {"tokens": None}, "lists of names"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_a_sentence(patterns: Any, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        heads(patterns, **{"tokens": TOKENS} | options)


def test_the_page_has_the_apps_colours_and_hostile_tokens_end_no_script(repository: Path) -> None:
    maps = heads(P, HOSTILE)
    assert (maps.html.count("<script"), maps.html.count("</script")) == (2, 2)
    theme = tomllib.loads((repository / ".streamlit/config.toml").read_text(encoding="utf-8"))["theme"]
    scales = [theme[kind][f"chart{scale}Colors"] for kind in ("light", "dark") for scale in ("Sequential", "Diverging")]
    assert [", ".join(scale) in maps.html for scale in scales] == [True] * 4
