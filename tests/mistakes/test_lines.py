"""The lines of each mistake, run in plain torch: the right one gives what the model has, the wrong one the mistake."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from playground import Encoder, ModelConfig
from playground.config import CHOICES
from playground.mistakes.edits import Input, run_edited
from playground.mistakes.registry import MISTAKES
from playground.model.positions import sinusoids

Trace = Mapping[str, Tensor]
Names = dict[str, Any]

CONFIG = ModelConfig(
    vocab_size=12, d_model=16, n_heads=4, n_layers=2, d_ff=24, max_len=16, norm_eps=0.05, activation="gelu"
)
IDS = torch.tensor([[3, 1, 4, 1, 5, 9]])
PADDING = torch.tensor([[True] * 4 + [False] * 2])
CAUSAL = torch.ones(1, 6, 6).tril().bool()
FIRST = "layers.0"
ATTENTION_IN, ATTENTION_Z = f"{FIRST}.attn.in", f"{FIRST}.attn.z"


def build(**fields: Any) -> Encoder:
    made, generator = Encoder(replace(CONFIG, **fields), 1), torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.2 * torch.randn(parameter.shape, generator=generator))
    return made.requires_grad_(False)


def run(line: str, names: Names) -> Names:
    """The names that a line leaves behind, with those that lines take for granted."""
    B, T = IDS.shape  # noqa: N806
    names = {
        "math": math, "torch": torch, "nn": nn, "F": F, "B": B, "T": T, "H": 4, "d_head": 4, "d_model": 16, "d": 16,
    } | names  # fmt: skip
    exec(line, names)
    return names


def sublayer(encoder: Encoder, trace: Trace) -> tuple[Names, Callable[[Names], Any], str]:
    """Layer 0's attention as `f`, between its norms."""
    block, names = encoder.layers[0], {"x": trace["embed.out"], "f": encoder.layers[0].attn}
    names |= {"norm": block.norm1, "post_norm": block.post_norm1}
    is_post = encoder.config.norm_placement == "post"
    return names, lambda found: found["x"], f"{FIRST}.{'norm1.out' if is_post else 'resid_mid'}"


def hidden(encoder: Encoder, trace: Trace) -> tuple[Names, Callable[[Names], Any], str]:
    ffn: Any = encoder.layers[0].ffn
    names = {"x": trace[f"{FIRST}.ffn.in"], "up": ffn.up, "gate": ffn.gate}
    return names, lambda found: found["hidden"], f"{FIRST}.ffn.hidden"


def check(key: str, encoder: Encoder, mask: Tensor | None, prepare: Any) -> None:
    """Run both lines on what the right encoder, and the one with the mistake, hand to them."""
    mistake = MISTAKES[key]
    assert mistake.applies(encoder.config, mask)
    given = Input(IDS, mask)
    right, wrong = run_edited(encoder, given, []), run_edited(encoder, given, [mistake.making])
    for line, trace in zip(mistake.write_lines(encoder.config), (wrong, right), strict=True):
        names, read, name = prepare(encoder, trace)
        if key == "norm-order-swapped" and trace is wrong:
            name = f"{FIRST}.resid_mid" if name.endswith("norm1.out") else f"{FIRST}.norm1.out"
        torch.testing.assert_close(read(run(line, names)), trace[name], atol=2e-6, rtol=2e-5, msg=f"{key}: {line}")
    assert not torch.equal(wrong[name], right[name])


@pytest.mark.parametrize(
    "fields",
    [*({"norm_placement": each} for each in CHOICES["norm_placement"]), {"norm": "none"}, {"residual": False}],
    ids=str,
)
def test_the_order_of_norms_and_the_residual_connection(fields: dict[str, Any]) -> None:
    encoder = build(**fields)
    for key in ("norm-order-swapped", "residual-forgotten"):
        if MISTAKES[key].applies(encoder.config, None):
            check(key, encoder, None, sublayer)


@pytest.mark.parametrize("gated", [False, True])
@pytest.mark.parametrize("activation", CHOICES["activation"])
@pytest.mark.parametrize("key", ["activation-forgotten", "relu-for-gelu", "gelu-by-tanh"])
def test_the_activation(key: str, activation: Any, gated: bool) -> None:
    encoder = build(activation=activation, gated=gated)
    if MISTAKES[key].applies(encoder.config, None):
        check(key, encoder, None, hidden)


@pytest.mark.parametrize(("norm", "eps"), [("layer", 1e-12), ("rms", 1e-6), ("scalar", 1e-5), ("layer", 1e-2)])
def test_the_eps_of_the_norms(norm: Any, eps: float) -> None:
    encoder, mistake = build(norm=norm, norm_eps=eps), MISTAKES["other-eps"]
    for line, making in zip(mistake.write_lines(encoder.config), ([mistake.making], []), strict=True):
        made = build(norm=norm, norm_eps=eps)
        for norm_module in (made.layers[0].norm1, made.layers[0].norm2):
            run(line, {"norm": norm_module})
        wanted = run_edited(encoder, Input(IDS), making)[f"{FIRST}.out"]
        torch.testing.assert_close(run_edited(made, Input(IDS), [])[f"{FIRST}.out"], wanted, atol=2e-6, rtol=2e-5)


def from_trace(output: str, name: str, **inputs: str) -> Any:
    """A line that reads points of the trace and makes another one."""
    return lambda encoder, trace: ({key: trace[point] for key, point in inputs.items()}, lambda f: f[output], name)


def scores_of(trace: Trace) -> Tensor:
    q, k = trace[f"{FIRST}.attn.q"], trace[f"{FIRST}.attn.k"]
    return q @ k.transpose(-2, -1) / 2


def on_norm(*names: str) -> Any:
    def prepare(_: Encoder, trace: Trace) -> Any:
        x = trace[f"{FIRST}.norm1.in"]
        known = {
            "x": x, "eps": 0.05, "mean": x.mean(-1, keepdim=True), "variance": x.var(-1, correction=0, keepdim=True),
            "std": x.std(-1, correction=0, keepdim=True),
        }  # fmt: skip
        end = lambda f: (x - f["mean"]) / torch.sqrt(f["variance"] + 0.05) if "mean" in names else f["x"]  # noqa: E731
        return {"x": x} if "mean" in names else known, end, f"{FIRST}.norm1.normalized"

    return prepare


def on_mask(make: Callable[[Names, Tensor], Tensor], mask: Tensor) -> Any:
    """A line that makes, or uses, a mask."""

    def prepare(_: Encoder, trace: Trace) -> Any:
        scores = scores_of(trace)
        allowed = mask[:, None, None] if mask.ndim == 2 else mask[:, None]
        names = {"scores": scores, "mask": allowed.expand_as(scores), "padding": PADDING}
        return names, lambda found: make(found, scores), f"{FIRST}.attn.pattern"

    return prepare


def use_mask(found: Names, scores: Tensor) -> Tensor:
    """As it comes out with −1e9, where a row hides all."""
    return scores.masked_fill(~found["mask"], -1e9).softmax(-1)


def soften(found: Names, _: Tensor) -> Tensor:
    softened: Tensor = found["scores"].softmax(-1)
    return softened


def on_positions(encoder: Encoder, trace: Trace) -> Any:
    names = {
        "x": trace["embed.tokens"],
        "table": sinusoids(16, 16),
        "positions": lambda x: sinusoids(16, 16)[: len(x[0])],
    }
    return names, lambda found: found["x"], "embed.sum"


def on_table(encoder: Encoder, trace: Trace) -> Any:
    angles = torch.arange(6)[:, None] * 10_000.0 ** -(torch.arange(0, 16, 2) / 16)
    return {"angles": angles}, lambda found: trace["embed.tokens"] + found["table"], "embed.sum"


def on_column(column: int, read: Callable[[Names], Any], **names: Any) -> Any:
    """A line that makes one column of the table's row 5."""

    def prepare(_: Encoder, trace: Trace) -> Any:
        rest = trace["embed.sum"].clone()

        def place(found: Names) -> Tensor:
            rest[0, 5, column] = trace["embed.tokens"][0, 5, column] + read(found)
            return rest

        return {"pos": 5, **names}, place, "embed.sum"

    return prepare


def with_names(output: Callable[[Any, Names], Tensor], name: str, names: Callable[[Any, Trace], Names]) -> Any:
    """A line that uses modules of layer 0's attention."""
    return lambda encoder, trace: (
        names(encoder.layers[0].attn, trace),
        lambda found: output(encoder.layers[0].attn, found),
        f"{FIRST}.attn.{name}",
    )


def on_tokens(encoder: Encoder, _: Trace) -> Any:
    return {"embedding": encoder.embed.tokens, "ids": IDS}, lambda found: found["x"], "embed.tokens"


QK = {"q": f"{FIRST}.attn.q", "k": f"{FIRST}.attn.k"}
PRODUCT = from_trace("scores", f"{FIRST}.attn.scores", **QK)

PLAIN: dict[str, Any] = {
    "no-embedding-scale": on_tokens,
    **dict.fromkeys(
        ("positions-not-added", "integer-positions", "positions-twice", "positions-from-one"), on_positions
    ),
    "sinusoids-in-halves": on_table,
    "doubled-exponent": on_column(14, lambda found: math.sin(found["angle"])),
    "exponent-per-column": on_column(3, lambda found: found["table"][5, 3], i=2, table=torch.zeros(6, 16)),
    "split-without-transpose": with_names(lambda _, f: f["q"], "q", lambda a, trace: {"q": a.q(trace[ATTENTION_IN])}),
    "merge-without-transpose": with_names(lambda a, f: a.o(f["z"]), "out", lambda _, trace: {"z": trace[ATTENTION_Z]}),
    "output-projection-forgotten": with_names(
        lambda _, f: f["out"], "out", lambda a, trace: {"concatenated": a.merge(trace[ATTENTION_Z]), "w_o": a.o}
    ),
    "query-key-weights-swapped": with_names(
        lambda a, f: a.heads(f["q"]), "q", lambda a, trace: {"x": trace[ATTENTION_IN], "w_q": a.q, "w_k": a.k}
    ),
    **dict.fromkeys(("query-key-swapped", "no-score-scale", "scale-by-d-model"), PRODUCT),
    "softmax-over-queries": from_trace("pattern", f"{FIRST}.attn.pattern", scores=f"{FIRST}.attn.scores"),
    **dict.fromkeys(("unbiased-variance", "eps-outside-root", "root-of-deviation"), on_norm()),
    "norm-over-sequence": on_norm("mean"),
    "residual-from-normed": sublayer,
}

MASKED: dict[str, tuple[Tensor, Callable[[Names, Tensor], Tensor]]] = {
    "mask-inverted": (PADDING, soften),
    "mask-after-softmax": (PADDING, lambda found, _: found["pattern"]),
    "float-mask-added": (PADDING, soften),
    "masked-query-rows": (PADDING, use_mask),
    "no-peek-off-by-one": (CAUSAL, use_mask),
    "hides-itself": (CAUSAL, use_mask),
}

OF_WHOLE_PASSES = {
    "mask-forgotten", "causal-mask-left", "axes-exchanged", "shared-layers", "dropout-left-on",
}  # fmt: skip
"""Whose lines name a call, a constructor or a mode."""

OF_THE_CONFIG = {
    "norm-order-swapped", "residual-forgotten", "activation-forgotten", "relu-for-gelu", "gelu-by-tanh", "other-eps",
}  # fmt: skip


@pytest.mark.parametrize("key", PLAIN)
def test_both_lines_give_what_is_computed(key: str) -> None:
    check(key, build(norm_placement="pre" if key == "residual-from-normed" else "post"), None, PLAIN[key])


@pytest.mark.parametrize("key", MASKED)
def test_both_lines_mask_as_is_computed(key: str) -> None:
    mask, make = MASKED[key]
    check(key, build(), mask, on_mask(make, mask))


def test_every_mistake_that_goes_both_ways_has_lines_of_the_config() -> None:
    assert MISTAKES.keys() == PLAIN.keys() | MASKED.keys() | OF_WHOLE_PASSES | OF_THE_CONFIG
    for mistake in MISTAKES.values():
        assert all((mistake.title, mistake.meaning, mistake.source, mistake.symptom, mistake.test))
        wrong, right = mistake.write_lines(CONFIG)
        assert wrong != right
