"""Every configuration's file runs, gives the numbers of the package, and needs no formatter."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings

from playground import Encoder, ModelConfig
from playground.config import CHOICES, POSITION_TABLES
from tests.export.code.setups import TEXTS, TOKENIZERS, Arguments, arguments, export, setups
from tests.export.code.written import complaints, run_here
from tests.model.strategies import SWITCHES

SMALL = ModelConfig(vocab_size=100, d_model=16, n_heads=4, n_layers=2, d_ff=24, max_len=64)


def check(given: Arguments) -> None:
    """Run the file; weights and names are those of the package."""
    code = export(**given).python()
    names = run_here(code)  # which ends in assertions
    ours = Encoder(given["config"], seed=given["seed"]).state_dict()
    theirs = names["encoder"].state_dict()
    assert ours.keys() == theirs.keys()
    for name, tensor in ours.items():
        torch.testing.assert_close(theirs[name], tensor, atol=1e-6, rtol=0, msg=name)


@settings(max_examples=int(os.environ.get("SOAK_EXPORTS", "60")), deadline=None, derandomize=True)
@given(setups())
def test_any_setup_runs_with_the_weights_and_the_numbers_of_the_package(given: Arguments) -> None:
    check(given)


@pytest.mark.long
def test_files_need_no_formatter_and_no_linter(tmp_path: Path) -> None:
    """Every choice and switch at least once."""
    longest = max(map(len, CHOICES.values()))
    written = []
    for i in range(2 * longest):
        fields: dict[str, Any] = {name: options[i % len(options)] for name, options in CHOICES.items()}
        fields |= {name: bool((i + k) % 2) for k, name in enumerate(SWITCHES)}
        if fields["tied"] != "separate":
            fields |= {"fused_qkv": False, "qk_norm": False}
        if fields["positions"] not in POSITION_TABLES:
            fields["position_join"] = "add"
        given = arguments(replace(SMALL, n_segments=i % 2, **fields), TEXTS[i % len(TEXTS)], TOKENIZERS[i % 4])
        written.append(export(causal=i % 3 == 0, **given).python())
    paths = [tmp_path / f"written_{i}.py" for i in range(len(written))]
    for path, code in zip(paths, written, strict=True):
        path.write_text(code, encoding="utf-8")
    assert complaints(*paths) == ""


@pytest.mark.parametrize("broken", ["shown_output", "shown_pattern", "shown_sums", "n_heads"])
def test_the_assertions_can_fail(broken: str) -> None:
    code = export(SMALL, causal=True).python()
    changes = {"n_heads": ("n_layers, n_heads = 2, 4", "n_layers, n_heads = 2, 2")}
    old, new = changes.get(broken, (f"{broken} = [", f"{broken} = [0.001 + "))
    assert old in code
    with pytest.raises(AssertionError):
        run_here(code.replace(old, new))
