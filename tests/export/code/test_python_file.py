"""Every configuration's file runs, gives the numbers of the package, and needs no formatter."""

import dataclasses
import itertools
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings

from playground import Encoder, ModelConfig
from playground.config import CHOICES
from playground.errors import ConfigError, InputError
from playground.export import as_python
from tests.export.code.setups import TEXTS, TOKENIZERS, Arguments, arguments, setups
from tests.export.code.written import complaints, run_here
from tests.model.strategies import SWITCHES

SMALL = ModelConfig(vocab_size=100, d_model=16, n_heads=4, n_layers=2, d_ff=24, max_len=64)

IS_SOAK = "SOAK_EXPORTS" in os.environ

long_in_soak = settings(max_examples=int(os.environ.get("SOAK_EXPORTS", "30")), deadline=None, derandomize=True)


def check(given: Arguments) -> None:
    """Run the file; weights and names are those of the package."""
    code = as_python(given.config, **given.options)
    names = run_here(code)  # which ends in assertions
    ours = Encoder(given.config, seed=given.options["seed"]).state_dict()
    theirs = names["encoder"].state_dict()
    assert ours.keys() == theirs.keys()
    for name, tensor in ours.items():
        torch.testing.assert_close(theirs[name], tensor, atol=1e-6, rtol=0, msg=name)


@pytest.mark.long
@long_in_soak
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


def of_varied(fields: dict[str, Any]) -> Arguments:
    tokenizer = "vectors" if fields.get("vocab_size") == 0 else "word"
    return arguments(replace(SMALL, **fields), TEXTS[1], tokenizer, causal=False, seed=1)


@pytest.mark.parametrize("fields", VARIED)
def test_every_field_is_written(fields: dict[str, Any]) -> None:
    check(of_varied(fields))


def shapes_of(encoder: Encoder) -> dict[str, torch.Size]:
    return {name: tensor.shape for name, tensor in encoder.state_dict().items()}


def test_no_field_is_left_out_and_each_changes_the_numbers() -> None:
    """A new field stands in `VARIED`: then its file fails until a template has it."""
    defaults: dict[str, Any] = {field.name: field.default for field in dataclasses.fields(ModelConfig)}
    varied = {name for fields in VARIED for name, value in fields.items() if value != defaults[name]}
    assert varied == defaults.keys() - {"dropout"}, "what drops is the recipe's, in tests of trainings"
    for fields in VARIED:
        config = replace(SMALL, **{**fields, "vocab_size": 9})
        encoder = Encoder(config)
        numbers = encoder(torch.arange(9)[None])
        for name in fields.keys() - {"vocab_size", "max_len"}:  # these give sizes of tables
            other = getattr(SMALL, name) if getattr(SMALL, name) != fields[name] else defaults[name]
            try:
                changed = Encoder(replace(config, **{name: other}))
            except ConfigError:  # it must be what it is beside the others
                continue
            if shapes_of(changed) == shapes_of(encoder):
                assert not torch.allclose(changed(torch.arange(9)[None]), numbers, atol=1e-4), name


OTHERS = {name: options for name, options in CHOICES.items() if name != "activation"}


def combinations(first: int, step: int) -> Iterator[dict[str, Any]]:
    """Every `step`-th combination of choices and switches from `first` on; the activation stands in one line alone."""
    every = itertools.product(*OTHERS.values(), *[(False, True)] * len(SWITCHES), (0, 2))
    for number, values in itertools.islice(enumerate(every), first, None, step):
        fields: dict[str, Any] = dict(zip((*OTHERS, *SWITCHES, "n_segments"), values, strict=True))
        yield fields | {"activation": CHOICES["activation"][number % len(CHOICES["activation"])]}


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("number", "tokenizer", "causal", "sentence"),
    [(n, *case) for n, case in enumerate(itertools.product(["word", "vectors"], [False, True], [0, 1]))],
)
def test_every_combination_runs(number: int, tokenizer: str, causal: bool, sentence: int) -> None:
    """All of them in `make soak`, which takes an hour or two; here a few, which are others for each case."""
    for fields in combinations(*((0, 1) if IS_SOAK else (683 * number, 5_471))):
        given = arguments(replace(SMALL, **fields), TEXTS[1], tokenizer, causal=causal, sentence=sentence, seed=1)
        check(given)


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Files with every choice and switch at least once, and one of each preset that a page runs."""
    folder = tmp_path_factory.mktemp("written")
    longest = max(map(len, CHOICES.values()))
    written = []
    for i in range(2 * longest):
        fields: dict[str, Any] = {name: options[i % len(options)] for name, options in CHOICES.items()}
        fields |= {name: bool((i + k) % 2) for k, name in enumerate(SWITCHES)}
        given = arguments(replace(SMALL, n_segments=i % 2, **fields), TEXTS[i % len(TEXTS)], TOKENIZERS[i % 4])
        written.append(as_python(given.config, causal=i % 3 == 0, **given.options))
    paths = [folder / f"written_{i}.py" for i in range(len(written))]
    for path, code in zip(paths, written, strict=True):
        path.write_text(code, encoding="utf-8")
    return paths


@pytest.mark.long
def test_files_need_no_formatter_and_no_linter(examples: list[Path]) -> None:
    assert complaints(*examples) == ""


@pytest.mark.parametrize("broken", ["shown_output", "shown_pattern", "shown_sums", "n_heads", "seed", "assert sum"])
def test_the_assertions_can_fail(broken: str) -> None:
    code = as_python(SMALL, causal=True)
    changes = {
        "n_heads": ("n_layers, n_heads = 2, 4", "n_layers, n_heads = 2, 2"),
        "seed": ("seed = 0", "seed = 1"),
        "assert sum": ("== 5_", "== 6_"),
    }
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
