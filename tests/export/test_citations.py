"""What a view rests on: every entry is sound, chosen by some view, and no view asks for one that is not there."""

import itertools
import re
from typing import Any

import pytest

from playground import Encoder, ModelConfig
from playground.export import data
from playground.export.data import choose_references, cite_app, references, weights_sha256

BASE: dict[str, Any] = {"vocab_size": 5, "d_model": 4, "n_heads": 2, "n_layers": 1, "d_ff": 8, "max_len": 8}
PAGES = ("attention", "norms", "gradient-flow", "training", "regularisers")


def chosen(page: str = "norms", weights: str = "random", tokenizer: str = "char", **fields: Any) -> list[str]:
    return choose_references(ModelConfig(**BASE | fields), weights=weights, tokenizer=tokenizer, page=page)


def test_all_views_together_cite_every_entry_and_no_other() -> None:
    cited = set()
    for norm, placement, activation, tokenizer, page in itertools.product(
        ("layer", "scalar", "rms", "none"), ("pre", "post"), ("relu", "gelu", "silu"), ("wordpiece", "bpe"), PAGES
    ):
        cited |= set(chosen(page, "minilm", tokenizer, norm=norm, norm_placement=placement, activation=activation))
    assert cited | {"devlin2019bert"} == references().keys()


@pytest.mark.parametrize(
    ("fields", "key"),
    [
        ({"norm": "rms"}, "zhang2019root"),
        ({"norm_placement": "pre"}, "xiong2020layer"),
        ({"activation": "gelu"}, "hendrycks2016gaussian"),
        ({"n_segments": 2}, "devlin2019bert"),
        ({"residual": True}, "he2016deep"),
    ],
)
def test_a_part_is_cited_where_the_encoder_has_it_and_only_there(fields: dict[str, Any], key: str) -> None:
    assert key in chosen(**fields)
    assert key not in chosen(norm="none", activation="relu", residual=False)


@pytest.mark.parametrize("entry", [*references().values(), cite_app("https://a.example/norms?text=%7Bx%7D&v=2")])
def test_an_entry_is_whole(entry: str) -> None:
    assert re.match(r"@(misc|article|inproceedings)\{[a-z0-9-]+,\n", entry)
    assert entry.count("{") == entry.count("}")
    assert entry.endswith("\n}")
    assert re.search(r"\n  title +=", entry)
    assert re.search(r"\n  year +=", entry)


def test_the_app_is_cited_with_its_version_only_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    for own, note in (({}, None), ({"playground": "1.2"}, "{Version 1.2}")):
        monkeypatch.setattr(data, "versions", lambda own=own: {**own, "torch": "2"})
        found = re.search(r"\n  note += (.*),\n", cite_app("https://a.example"))
        assert (found and found[1]) == note


def test_the_fingerprint_is_of_names_shapes_and_numbers() -> None:
    config = ModelConfig(**BASE)
    first = weights_sha256(Encoder(config, seed=1))
    assert first == weights_sha256(Encoder(config, seed=1))
    assert first != weights_sha256(Encoder(config, seed=2))
    assert first != weights_sha256(Encoder(ModelConfig(**BASE | {"n_layers": 2}), seed=1))
    assert re.fullmatch("[0-9a-f]{64}", first)
