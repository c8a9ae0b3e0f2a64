"""Which mistake was made: every one, made in plain torch, is named; what is right is called right."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from playground import Encoder, ModelConfig, Trace
from playground.diagnosis import diagnose
from playground.errors import InputError
from playground.mistakes.edits import Input, run_edited
from playground.mistakes.registry import MISTAKES
from playground.testing import assert_matches
from tests.mistakes.plain_pass import plain_pass

T = 8
EPS = 0.05
"""Large, so that where it is added shows."""

IDS = torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6], [5, 3, 5, 8, 9, 7, 0, 0]])
KEYS = torch.ones(2, T, dtype=torch.bool)
KEYS[1, 6:] = False
BEFORE = torch.ones(2, T, dtype=torch.bool)
BEFORE[1, :2] = False
MASKS = {
    "none": None,
    "padding": KEYS,
    "causal": torch.ones(T, T).tril().bool().expand(2, T, T),
    "causal and padding": torch.ones(T, T).tril().bool() & KEYS[:, None, :],
}
SAME_IN_REAL_ROWS = {("masked-query-rows", "causal and padding")}
"""Where a mistake changes rows of padding alone."""

VARIANTS = [(placement, activation) for placement in ("post", "pre") for activation in ("relu", "gelu")]


def encoder(placement: Any, activation: Any, seed: int = 1) -> Encoder:
    config = ModelConfig(
        vocab_size=12, d_model=16, n_heads=4, n_layers=2, d_ff=24, positions="sinusoidal", scale_embeddings=True,
        norm_placement=placement, activation=activation, norm_eps=EPS,
    )  # fmt: skip
    return randomise(Encoder(config, seed), seed)


def randomise(made: Encoder, seed: int = 1) -> Encoder:
    """The encoder whose gains and biases are random too, so that none is 1 or 0."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.2 * torch.randn(parameter.shape, generator=generator))
    return made.requires_grad_(False)


def theirs(model: Encoder, mask: Tensor | None, *made: str, dtype: torch.dtype = torch.float32) -> dict[str, Tensor]:
    return plain_pass(model.state_dict(), model.config, IDS, mask, made, dtype)


def possible(model: Encoder, mask_name: str) -> list[str]:
    mask = MASKS[mask_name]
    return [
        key
        for key, mistake in MISTAKES.items()
        if mistake.applies(model.config, mask)
        and not mistake.making.drops
        and (key, mask_name) not in SAME_IN_REAL_ROWS
    ]


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize(("placement", "activation"), VARIANTS)
def test_the_plain_pass_is_the_models_own(placement: str, activation: str, mask: str) -> None:
    model, trace = encoder(placement, activation), Trace()
    model(IDS, MASKS[mask], trace)
    plain = theirs(model, MASKS[mask])
    assert set(plain) == set(trace)
    for dtype in (torch.float32, torch.float64):
        found = diagnose(model, IDS, theirs(model, MASKS[mask], dtype=dtype), MASKS[mask])
        assert (found.first, found.mistakes, found.explanations) == (None, (), {})
        assert found.report().startswith("0 of ")


PAIRS = [(*VARIANTS[i], mask) for n, mask in enumerate(MASKS) for i in ((0, 3), (1, 2))[n % 2]]
"""Every two of placement, activation and mask together once."""


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("placement", "activation", "mask"), PAIRS)
def test_every_mistake_is_named(placement: str, activation: str, mask: str) -> None:
    model = encoder(placement, activation)
    for key in possible(model, mask):
        found = diagnose(model, IDS, theirs(model, MASKS[mask], key), MASKS[mask])
        assert found.mistakes == (key,)
        assert MISTAKES[key].shows in str(found.first) or key == "norm-order-swapped"
        assert f"`{key}`" in found.report()
        assert all(line in found.report() for line in MISTAKES[key].write_lines(model.config)[1].splitlines())


@pytest.mark.parametrize(
    "pair", [("query-key-swapped", "residual-forgotten"), ("integer-positions", "unbiased-variance")], ids=" + ".join
)
def test_two_mistakes_on_different_parts_are_named(pair: tuple[str, str]) -> None:
    model = encoder("post", "relu")
    plain = theirs(model, KEYS, *pair)
    for given in (plain, {"final": plain["final"]}):
        assert {*pair} in [{*each} for each in diagnose(model, IDS, given, KEYS).explanations]


def test_noise_is_called_noise_and_a_lower_precision_too() -> None:
    model, generator = encoder("post", "relu"), torch.Generator().manual_seed(0)
    plain = theirs(model, None)
    noisy = {name: each + 1e-3 * torch.randn(each.shape, generator=generator) for name, each in plain.items()}
    found = diagnose(model, IDS, noisy)
    assert found.is_noise
    assert found.mistakes == ()
    assert "noise" in found.report()
    assert diagnose(model, IDS, {name: each.half() for name, each in plain.items()}).mistakes == ()


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("final", "merge-without-transpose"),
        ("layers.1.out", "no-score-scale"),
        ("layers.1.attn.pattern", "softmax-over-queries"),
    ],
)
def test_a_single_tensor_will_do(given: str, made: str) -> None:
    model = encoder("post", "gelu")
    plain = theirs(model, KEYS, made)
    assert (made,) in diagnose(model, IDS, {given: plain[given].numpy()}, KEYS).explanations


def test_what_explains_it_equally_is_named_with_the_tensor_that_would_tell() -> None:
    model = encoder("post", "relu")
    causal = MASKS["causal"]
    plain = theirs(model, causal, "mask-after-softmax")
    found = diagnose(model, IDS, {"layers.0.attn.scores": plain["layers.0.attn.scores"]}, causal)
    assert {*found.explanations} == {("mask-forgotten",), ("mask-after-softmax",)}
    assert "`layers.0.attn.pattern` would tell" in found.report()


def test_rows_of_padding_do_not_count() -> None:
    model = encoder("pre", "gelu")
    plain = theirs(model, KEYS)
    for tensor in plain.values():
        tensor[1, ..., 6:, :] += 3
    assert diagnose(model, IDS, plain, KEYS).first is None


@pytest.mark.parametrize("given", [[], ["final"], ["layers.0.attn.pattern"]])
@pytest.mark.parametrize(("key", "mask"), [("mask-inverted", "padding"), ("hides-itself", "causal")])
def test_rows_of_nan_are_evidence(key: str, mask: str, given: list[str]) -> None:
    """With −∞ in the place of −1e9, a row that hides all is NaN."""
    model = encoder("post", "relu")
    plain = plain_pass(model.state_dict(), model.config, IDS, MASKS[mask], [key], fill=-np.inf)
    assert plain["final"].isnan().any()
    found = diagnose(model, IDS, {name: plain[name] for name in given or plain}, MASKS[mask])
    assert (key,) in found.explanations
    assert given == ["final"] or len(found.explanations) == 1


ARCHITECTURES: list[dict[str, Any]] = [
    {"norm_placement": "pre", "final_norm": True, "first_norm": False},
    {"norm_placement": "both", "norm": "rms", "activation": "silu", "gated": True, "bias": False},
    {"norm": "none", "residual": False, "positions": "none"},
    {"norm": "scalar", "share_layers": True, "positions": "learned", "embedding_norm": True, "activation": "gelu-tanh"},
    {"positions": "rotary", "n_kv_heads": 2, "qk_norm": True, "activation": "gelu"},
    {"positions": "alibi", "window": 2, "global_every": 2},
    {"positions": "relative", "relative_buckets": 8, "fused_qkv": True, "d_embedding": 8, "n_segments": 2},
    {"positions": "learned", "position_offset": 2, "max_len": 8, "d_head": 3},
    {"tied": "shared", "positions": "rotary"},
    {"tied": "merged", "position_join": "concatenate"},
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mask", ["none", "padding", "causal"])
@pytest.mark.parametrize("fields", ARCHITECTURES, ids=str)
def test_every_mistake_that_fits_a_model_can_be_made_there_and_shows(fields: dict[str, Any], mask: str) -> None:
    model = randomise(Encoder(replace(encoder("post", "relu").config, **fields), 1))
    for key, mistake in MISTAKES.items():
        given = Input(IDS, MASKS[mask])
        if mistake.applies(model.config, given.mask) and not mistake.making.drops:
            made, ours = run_edited(model, given, [mistake.making]), run_edited(model, given, [])
            rows = KEYS if mask == "padding" else torch.ones_like(KEYS)
            assert not torch.allclose(made["final"][rows], ours["final"][rows], atol=1e-4), key
            assert all(mistake.write_lines(model.config))


@pytest.mark.parametrize("name", ["layers.0.attn.out", "layers.0.ffn.out", "embed.out"])
def test_a_relu_too_many_is_no_dropout(name: str) -> None:
    model = encoder("post", "gelu")
    assert diagnose(model, IDS, {name: theirs(model, None)[name].relu() * (1 + 1e-7)}).mistakes == ()


def test_one_dropout_has_one_factor() -> None:
    model = encoder("post", "gelu")
    plain, generator = theirs(model, None), torch.Generator().manual_seed(0)

    def drop(tensor: Tensor, p: float) -> Tensor:
        return tensor * (torch.rand(tensor.shape, generator=generator) >= p) / (1 - p)

    dropped = {"embed.out": drop(plain["embed.out"], 0.2)}
    assert diagnose(model, IDS, dropped).mistakes == ("dropout-left-on",)
    given = Input(IDS, None, dropped)
    attended = run_edited(model, given, [MISTAKES["dropout-left-on"].making])["layers.0.attn.out"]
    for p, keys in ((0.2, ("dropout-left-on",)), (0.5, ())):
        assert diagnose(model, IDS, {**dropped, "layers.0.attn.out": drop(attended, p)}).mistakes == keys


def test_axes_in_another_order_are_said_and_read_and_a_single_sentence_needs_none_for_it() -> None:
    model, ids = encoder("post", "relu"), IDS[:1]
    plain = plain_pass(model.state_dict(), model.config, ids)
    found = diagnose(
        model, ids, {"layers.0.attn.q": plain["layers.0.attn.q"].transpose(1, 2), "final": plain["final"][0]}
    )
    assert found.first is None
    assert found.swapped_axes == {"layers.0.attn.q": (0, 2, 1, 3)}
    assert "axes" in found.report()


@pytest.mark.parametrize(
    ("tensors", "says"),
    [
        ({}, "no tensor to compare"),
        ({"layers.9.attn.q": np.zeros(3)}, "did you mean"),
        ({"final": np.zeros((2, 8, 5))}, "no order of its axes fits"),
        ({"final": np.array(["a"])}, "no array of numbers"),
        ({"final": [[1, 2], [3]]}, "no array of numbers"),
        ({"final": np.array([object()])}, "no array of numbers"),
    ],
)
def test_what_cannot_be_compared_is_told(tensors: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        diagnose(encoder("post", "relu"), IDS, tensors)


@pytest.mark.long
def test_nothing_finite_is_no_crash_and_no_agreement() -> None:
    model = encoder("post", "relu")
    for value in (np.nan, np.inf, 1e300):
        found = diagnose(model, IDS, {"final": np.full((2, 8, 16), value)})
        assert found.first == "final"
        assert found.mistakes == ()
        assert found.report()


def test_a_test_of_ones_own_encoder_fails_with_the_report() -> None:
    model = encoder("post", "relu")
    assert_matches(model, IDS, theirs(model, KEYS), KEYS)
    with pytest.raises(AssertionError, match="no-score-scale"):
        assert_matches(model, IDS, theirs(model, KEYS, "no-score-scale"), KEYS)
