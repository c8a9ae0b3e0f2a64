"""Every configuration's file runs, gives the numbers of the package, and needs no formatter."""

import dataclasses
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings

from playground import Encoder, ModelConfig
from playground.config import CHOICES
from playground.errors import InputError
from playground.export import as_python
from tests.export.code.setups import TEXTS, TOKENIZERS, Arguments, arguments, setups
from tests.export.code.written import complaints, run_here
from tests.model.strategies import SWITCHES

SMALL = ModelConfig(vocab_size=100, d_model=16, n_heads=4, n_layers=2, d_ff=24, max_len=64)


def check(given: Arguments) -> None:
    """Run the file; weights and names are those of the package."""
    code = as_python(**given)
    names = run_here(code)  # which ends in assertions
    ours = Encoder(given["config"], seed=given["seed"]).state_dict()
    theirs = names["encoder"].state_dict()
    assert ours.keys() == theirs.keys()
    for name, tensor in ours.items():
        torch.testing.assert_close(theirs[name], tensor, atol=1e-6, rtol=0, msg=name)


@pytest.mark.long
@settings(max_examples=int(os.environ.get("SOAK_EXPORTS", "30")), deadline=None, derandomize=True)
@given(setups())
def test_any_setup_runs_with_the_weights_and_the_numbers_of_the_package(given: Arguments) -> None:
    check(given)


VARIED: list[dict[str, Any]] = [
    {"n_kv_heads": 2, "d_head": 6, "qk_norm": True, "n_layers": 3, "norm_placement": "both", "norm": "rms",
     "norm_eps": 0.01, "first_norm": False, "bias": False, "activation": "gelu", "gated": True, "positions": "rotary",
     "rotary_base": 50, "local_rotary_base": 9, "window": 2, "global_every": 2, "scale_embeddings": False},
    {"d_model": 24, "n_heads": 3, "d_ff": 20, "max_len": 40, "share_layers": True, "final_norm": True,
     "norm_placement": "pre", "positions": "relative", "relative_buckets": 8, "relative_distance": 17,
     "embedding_norm": True, "n_segments": 2, "d_embedding": 8, "fused_qkv": True, "initialisation": "torch"},
    {"positions": "learned", "position_offset": 2, "head_merge": "reshape", "residual": False, "vocab_size": 0},
]  # fmt: skip
"""Every field at another value than its default, where it has an effect."""


@pytest.mark.parametrize("fields", VARIED)
def test_every_field_is_written(fields: dict[str, Any]) -> None:
    tokenizer = "vectors" if fields.get("vocab_size") == 0 else "word"
    check(arguments(replace(SMALL, **fields), TEXTS[1], tokenizer, causal=True, sentence=1, seed=1))


def test_no_field_is_left_out() -> None:
    """A new field stands in `VARIED`: then its file fails until a template has it."""
    defaults: dict[str, Any] = {field.name: field.default for field in dataclasses.fields(ModelConfig)}
    varied = {name for fields in VARIED for name, value in fields.items() if value != defaults[name]}
    assert varied == defaults.keys() - {"dropout"}, "what drops is the recipe's, in tests of trainings"


@pytest.mark.long
def test_files_need_no_formatter_and_no_linter(tmp_path: Path) -> None:
    """Every choice and switch at least once."""
    longest = max(map(len, CHOICES.values()))
    written = []
    for i in range(2 * longest):
        fields: dict[str, Any] = {name: options[i % len(options)] for name, options in CHOICES.items()}
        fields |= {name: bool((i + k) % 2) for k, name in enumerate(SWITCHES)}
        given = arguments(replace(SMALL, n_segments=i % 2, **fields), TEXTS[i % len(TEXTS)], TOKENIZERS[i % 4])
        written.append(as_python(causal=i % 3 == 0, **given))
    paths = [tmp_path / f"written_{i}.py" for i in range(len(written))]
    for path, code in zip(paths, written, strict=True):
        path.write_text(code, encoding="utf-8")
    assert complaints(*paths) == ""


@pytest.mark.parametrize("broken", ["shown_output", "shown_pattern", "shown_sums", "n_heads"])
def test_the_assertions_can_fail(broken: str) -> None:
    code = as_python(SMALL, causal=True)
    changes = {"n_heads": ("n_layers, n_heads = 2, 4", "n_layers, n_heads = 2, 2")}
    old, new = changes.get(broken, (f"{broken} = [", f"{broken} = [0.001 + "))
    assert old in code
    with pytest.raises(AssertionError):
        run_here(code.replace(old, new))


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"weights": "mine"}, "weights='mine'"),
        ({"weights": "minilm"}, "shape"),
        ({"tokenizer": "morse"}, "morse"),
        ({"tokenizer": "vectors"}, "vocab_size"),
        ({"text": " ".join(map(str, range(200)))}, "200"),
        ({"text": ""}, "0 sentences"),
    ],
)  # fmt: skip
def test_what_cannot_be_written_is_one_sentence(options: dict[str, str], word: str) -> None:
    with pytest.raises(InputError, match=word):
        as_python(SMALL, **options)
