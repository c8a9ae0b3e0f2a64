"""The numbers that exercises ask for, each against a computation of its own."""

import json
import math
from collections.abc import Callable
from statistics import fmean
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from playground.errors import InputError
from playground.language.family import TABLE
from playground.language.network import Spec
from playground.learn.quantities import QUANTITIES, Place
from playground.link.opening import LinkedView, open_texts
from playground.model import EncoderDecoder
from playground.training.recipe import Recipe
from playground.training.tasks import make_data

Floats = NDArray[np.float64]

SMALL = {
    "weights": "random", "tokenizer": "word", "text": "a dog barks at the moon\nbirds sing", "d_model": "32",
    "n_heads": "4", "n_layers": "2", "d_ff": "64", "positions": "sinusoidal", "embedding_norm": "false",
    "n_segments": "0", "layer": "0", "head": "1", "query": "2", "key": "4", "gradient_layers": "3",
    "training_task": "Copy", "training_length": "5", "training_n_symbols": "4", "training_n_train": "64",
    "training_steps": "10", "training_batch_size": "8", "training_warmup": "10", "training_label_smoothing": "0.2",
}  # fmt: skip


def state(**changed: str) -> LinkedView:
    view = open_texts("attention", {key: [text] for key, text in {**SMALL, **changed}.items()})
    assert not view.notices
    assert view.encoder.config == view.config, "made here, as one that is made in inference mode is of no other use"
    return view


VIEW = state()
RECIPE = Recipe(
    task="copy", length=5, n_symbols=4, n_train=64, n_validation=128, steps=10, batch_size=8, warmup=10,
    label_smoothing=0.2,
)  # fmt: skip
"""The training of that state."""

SHORT = state(text="birds sing", query="1", key="1")
LARGE = state(d_ff="192")
T, H, D_HEAD = 6, 4, 8


def ask(name: str, *places: Place, view: LinkedView = VIEW) -> Any:
    return QUANTITIES[name](view, *places)


def parameters(view: LinkedView, *prefixes: str) -> int:
    return sum(p.numel() for name, p in view.encoder.named_parameters() if name.startswith(prefixes))


def scores(head: int = 1, *, divided: bool = True) -> Floats:
    """(T, T) of layer 0, from what entered it."""
    x = VIEW.run.arrays["layers.0.attn.in"].astype(np.float64)
    attn: Any = VIEW.encoder.layers[0].attn
    q, k = (
        (x @ getattr(attn, name).weight.double().numpy().T)[:, head * D_HEAD : (head + 1) * D_HEAD] for name in "qk"
    )
    return np.asarray(q @ k.T / (math.sqrt(D_HEAD) if divided else 1))


def softmax(row: Floats) -> Floats:
    return np.asarray(np.exp(row) / np.exp(row).sum(axis=-1, keepdims=True))


def weights() -> Floats:
    return softmax(scores())


def encode(x: torch.Tensor, view: LinkedView = VIEW) -> Floats:
    with torch.inference_mode():
        return np.asarray(view.encoder.encode(x[None])[0].double().numpy())


def embedded(view: LinkedView = VIEW) -> torch.Tensor:
    return torch.tensor(view.run.arrays["embed.out"])


def flipped(token: int) -> Floats:
    x = embedded()
    other = x.clone()
    other[token] = x[token].flip(-1)
    before, after = encode(x), encode(other)
    return np.asarray(np.linalg.norm(after - before, axis=1) / np.linalg.norm(before, axis=1))


def swapped() -> tuple[Floats, Floats]:
    """How far the outputs move where the tokens 0 and 2 change places: of each place, and of each word."""
    ids = VIEW.batch.ids[0]
    other = ids[[2, 1, 0, 3, 4, 5]]
    with torch.inference_mode():
        before, after = (VIEW.encoder(each[None])[0].double().numpy() for each in (ids, other))
    return after - before, after[[2, 1, 0, 3, 4, 5]] - before


def cross_keys() -> float:
    model = EncoderDecoder(SHORT.config, 4, 0).requires_grad_(False).eval()
    ids = SHORT.batch.ids[:1]
    block: Any = model.decoder.layers[0]
    keys = [block.cross_attn.k(model.encoder(each)).double() for each in (ids, ids.flip(-1))]
    return float((keys[1] - keys[0]).norm() / keys[0].norm())


HAND: dict[tuple[Any, ...], Callable[[], float | str]] = {
    ("pattern", 0, 1, 2, 4): lambda: weights()[2, 4],
    ("config", "d_ff"): lambda: 64,
    ("d_head",): lambda: 32 / 4,
    ("focus", "key"): lambda: 4,
    ("tokens",): lambda: T,
    ("padding.share",): lambda: 4 / 12,
    ("parameters.total",): lambda: parameters(VIEW, ""),
    ("parameters.of", "norms"): lambda: 2 * 2 * 2 * 32,
    ("parameters.block",): lambda: parameters(VIEW, "layers.1."),
    ("parameters.decoder_block",): lambda: parameters(VIEW, "layers.0.") + 4 * (32 * 32 + 32) + 2 * 32,
    ("parameters.decoder_block", "cross_attn"): lambda: 4 * (32 * 32 + 32),
    ("shape.count", "attn.scores"): lambda: H * T * T,
    ("shape.count", "ffn.hidden"): lambda: VIEW.run.arrays["layers.0.ffn.out"].shape[0] * 64,
    ("weight",): lambda: weights()[2, 4],
    ("weight.tempered", 200): lambda: softmax(scores() / 2)[2, 4],
    ("weight.undivided",): lambda: softmax(scores(divided=False))[2, 4],
    ("weight.shifted", 3): lambda: weights()[2, 4],
    ("weight.lead",): lambda: weights()[2, 4] / max(weights()[2, [0, 1, 2, 3, 5]]),
    ("weight.lead_tempered", 200): lambda: math.sqrt(weights()[2, 4] / max(weights()[2, [0, 1, 2, 3, 5]])),
    ("weight.most",): lambda: max(weights()[2]),
    ("weight.most_token",): lambda: VIEW.run.tokens[int(np.argmax(weights()[2]))],
    ("deviation.products",): lambda: float(np.std(scores(divided=False))),
    ("deviation.scores",): lambda: float(np.std(scores())),
    ("pattern.total", 0, 1): lambda: T,
    ("pattern.allowed",): lambda: T * T,
    ("keys", 2): lambda: T,
    ("received", 0, 1, 4): lambda: weights()[:, 4].mean(),
    ("entropy", 0, 1, 2): lambda: -sum(p * math.log2(p) for p in weights()[2]),
    ("entropy.share", 0, 1): lambda: -float((weights() * np.log2(weights())).sum(axis=1).mean()) / math.log2(T),
    ("heads.focus", 0, 1): lambda: weights()[2, 4],
    ("heads.rule", "previous token", 0, 1): lambda: float(np.mean([weights()[i, i - 1] for i in range(1, T)])),
    ("moves", 3, 1): lambda: flipped(3)[1],
    ("moves.count",): lambda: T,
    ("swap.by_place", 0, 2): lambda: float(np.abs(swapped()[0]).max()),
    ("swap.by_word", 0, 2): lambda: float(np.abs(swapped()[1]).max()),
    ("positions.wavelength", 3): lambda: 2 * math.pi * 10000 ** (6 / 32),
    ("stream.length", 0): lambda: float(np.median(embedded().double().norm(dim=1))),
    ("output.length",): lambda: float(np.median(np.linalg.norm(encode(embedded()), axis=1))),
    ("rate", 10): lambda: 1.0,
    ("rate", 5): lambda: 0.5,
    ("training", "n_symbols"): lambda: 4,
    ("loss.floor",): lambda: -(0.85 * math.log(0.85) + 3 * 0.05 * math.log(0.05)),
    ("trained.parameters",): lambda: (
        2 * (4 * (32 * 32 + 32) + 2 * 32 * 64 + 64 + 32 + 4 * 32) + 32 * make_data(RECIPE).tokenizer.vocab_size
    ),
    ("setting", "n_layers"): lambda: 2.0,
    ("setting", "causal"): lambda: "false",
}
"""What a quantity is by a computation of its own; of the others, `tests/analysis` has one, and exercises ask."""


@pytest.mark.parametrize("asked", HAND, ids=lambda asked: "-".join(map(str, asked)))
def test_it_is_what_a_computation_by_hand_gives(asked: tuple[Any, ...]) -> None:
    expected = HAND[asked]()
    found = ask(*asked)
    assert found == (expected if isinstance(expected, str) else pytest.approx(expected, rel=1e-4, abs=1e-6))


def test_attention_overtakes_the_feed_forward_where_its_operations_do() -> None:
    d, f = 32, 192
    first = next(n for n in range(1, 10_000) if 8 * n * d * d + 4 * n * n * d > 4 * n * d * f)
    assert ask("flops.overtake", view=LARGE) == first


def test_the_keys_of_a_decoder_come_from_the_source_and_its_queries_do_not() -> None:
    assert ask("cross.moves", "keys", view=SHORT) == pytest.approx(cross_keys(), rel=1e-4)
    assert ask("cross.moves", "values", view=SHORT) > 0
    assert ask("cross.moves", "queries", view=SHORT) == ask("cross.moves", "masked", view=SHORT) == 0


def test_a_causal_mask_closes_what_comes_later() -> None:
    view = state(causal="true")
    assert ask("pattern.allowed", view=view) == T * (T + 1) / 2
    assert [ask("keys", query, view=view) for query in range(T)] == [1, 2, 3, 4, 5, 6]
    assert [ask("moves", 3, token, view=view) > 0 for token in range(T)] == [False] * 3 + [True] * 3


def test_without_positions_words_take_their_outputs_along() -> None:
    view = state(positions="none")
    assert ask("swap.by_word", 0, 2, view=view) < 1e-9
    assert ask("swap.by_place", 0, 2, view=view) > 0.01


def test_an_encoder_of_the_page_gradient_flow_trains_as_a_plain_one_of_its_kind() -> None:
    assert ask("trained.encoder", "post-norm") == ask("trained")


def test_what_the_base_of_the_small_english_learnt_is_in_its_table() -> None:
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    rows = [table[Spec(seed=seed).key]["shares"]["recall"] for seed in range(3)]
    assert ask("learnt", "recall", view=open_texts("attention", {"weights": ["english"]})) == fmean(rows)
    with pytest.raises(InputError, match="No network has been trained"):
        ask("network", "steps")
