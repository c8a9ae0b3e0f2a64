"""A whole run as a file: what is read back is what the model computed, and says what it is of and rests on."""

import io
import itertools
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from playground import Encoder, ModelConfig, Trace
from playground.errors import TooLargeError
from playground.export import data
from playground.export.data import choose_references, cite_app, references, weights_sha256
from playground.runs.encoder_run import Run, run
from playground.text import characters
from tests.web.app_test import SMALL_CONFIG

SENTENCE = "héllo =1+1 \ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16")
KINDS: list[dict[str, Any]] = [
    {}, {"norm_placement": "pre", "final_norm": True}, {"norm": "none", "embedding_norm": False},
    {"fused_qkv": True, "head_merge": "reshape"}, {"vocab_size": 0}, {"positions": "none", "n_segments": 0},
    {"norm": "scalar", "activation": "relu", "n_heads": 1}, {"norm": "rms", "residual": False, "positions": "learned"},
]  # fmt: skip


def small_run(**changes: Any) -> Run:
    config = ModelConfig(**SMALL_CONFIG | changes)
    return run(Encoder(config, seed=1), characters().encode_batch([SENTENCE, "a longer sentence"]), keep=lambda _: True)


@pytest.mark.parametrize("changes", KINDS, ids=str)
def test_points_and_sizes_are_those_of_the_trace(changes: dict[str, Any]) -> None:
    made = small_run(**changes)
    sizes = data.list_sizes(made.config, len(made.tokens), data.list_points(made.config), range(2))
    assert {size.name: size.shape for size in sizes} == {name: array.shape for name, array in made.arrays.items()}
    axes = {size.name: size.axes for size in sizes}
    assert axes["layers.1.attn.pattern"] == ("H", "T", "T")
    assert axes["layers.0.ffn.hidden"] == ("T", "d_ff")


def about(made: Run) -> dict[str, Any]:
    return data.describe_run(
        made, seed=1, causal=False, sentence=SENTENCE, weights="random", link="http://x/?seed=1&v=2", do="1.1:zero"
    )


def test_the_three_lines_that_are_shown_read_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = small_run()
    monkeypatch.chdir(tmp_path)
    Path("run.npz").write_bytes(data.write_npz(about(made), made.arrays))
    lines, found = data.lines_to_read("run.npz", "layers.1.attn.scores"), dict[str, Any]()
    assert len(lines.splitlines()) == 3
    exec(lines, found)
    np.testing.assert_array_equal(found["array"], made.arrays["layers.1.attn.scores"])
    assert sorted(found["run"].files) == sorted(["about", *made.arrays])
    for name, array in made.arrays.items():
        np.testing.assert_array_equal(found["run"][name], array)
    said = found["about"]
    assert ModelConfig(**said["config"]) == made.config
    assert (said["sentence"], said["tokens"], said["seed"]) == (SENTENCE, list(made.tokens), 1)
    assert (said["do"], said["versions"]["torch"]) == ("1.1:zero", torch.__version__)


def test_a_file_makes_the_same_run_again() -> None:
    made = small_run()
    said = json.loads(str(np.load(io.BytesIO(data.write_npz(about(made), {})), allow_pickle=False)["about"]))
    trace = Trace()
    with torch.inference_mode():
        ids = characters().encode_batch([said["sentence"], "a longer sentence"])
        Encoder(ModelConfig(**said["config"]), said["seed"])(ids.ids[:1], ids.mask[:1], trace)
    np.testing.assert_allclose(trace["final"][0].numpy(), made.arrays["final"], atol=1e-6)


def test_json_has_the_same_numbers_and_words_for_those_it_lacks() -> None:
    made = small_run()
    content = json.loads(data.write_json(about(made), made.arrays), parse_constant=pytest.fail)
    for name, array in made.arrays.items():
        np.testing.assert_array_equal(np.array(content["arrays"][name], np.float32), array)
    scores = made.arrays["layers.0.attn.scores"]
    assert np.isinf(scores).any(), "padding is masked"
    row, column = np.argwhere(np.isinf(scores[0]))[0]
    assert content["arrays"]["layers.0.attn.scores"][0][row][column] == "-inf"
    assert content["about"] == about(made)


@pytest.mark.parametrize(("write", "most"), [(data.write_npz, data.MOST_NUMBERS), (data.write_json, data.MOST_AS_TEXT)])
def test_a_file_is_bounded(write: Any, most: int) -> None:
    half = np.broadcast_to(np.float32(0), (most // 2 + 1,))
    with pytest.raises(TooLargeError, match=f"{most:,}"):
        write({}, {"a": half, "b": half})


def test_sizes_are_known_of_a_model_that_nobody_can_run() -> None:
    config = ModelConfig(vocab_size=50_000, d_model=12_288, n_heads=96, n_layers=96, d_ff=49_152, max_len=2_048)
    (size,) = data.list_sizes(config, 2_048, ["layers.{i}.attn.pattern"], [95])
    assert size.n_numbers == math.prod((96, 2_048, 2_048))
    with pytest.raises(TooLargeError):
        data.check_size([size])


BASE: dict[str, Any] = {"vocab_size": 5, "d_model": 4, "n_heads": 2, "n_layers": 1, "d_ff": 8, "max_len": 8}
PAGES = ("attention", "norms", "gradient-flow", "training", "regularisers", "parts")
NEWER: dict[str, dict[str, Any]] = {
    "su2021roformer": {"positions": "rotary"},
    "press2022train": {"positions": "alibi"},
    "raffel2020exploring": {"positions": "relative"},
    "shazeer2020glu": {"gated": True},
    "ainslie2023gqa": {"n_kv_heads": 1},
    "henry2020query": {"qk_norm": True},
    "beltagy2020longformer": {"window": 2},
    "lan2020albert": {"share_layers": True},
    "ding2021cogview": {"norm_placement": "both"},
}
"""What each paper since 2019 brought, by its key."""


def chosen(page: str = "norms", weights: str = "random", tokenizer: str = "char", **fields: Any) -> list[str]:
    return choose_references(ModelConfig(**BASE | fields), weights=weights, tokenizer=tokenizer, page=page)


def test_all_views_together_cite_every_entry_and_no_other() -> None:
    cited = set()
    for norm, placement, activation, tokenizer, page in itertools.product(
        ("layer", "scalar", "rms", "none"), ("pre", "post"), ("relu", "gelu", "silu"), ("wordpiece", "bpe"), PAGES
    ):
        cited |= set(chosen(page, "minilm", tokenizer, norm=norm, norm_placement=placement, activation=activation))
    cited |= {key for fields in NEWER.values() for key in chosen(**fields)}
    assert cited | {"devlin2019bert"} == references().keys()


@pytest.mark.parametrize(
    ("fields", "key"),
    [
        ({"norm": "rms"}, "zhang2019root"),
        ({"norm_placement": "pre"}, "xiong2020layer"),
        ({"activation": "gelu"}, "hendrycks2016gaussian"),
        ({"n_segments": 2}, "devlin2019bert"),
        ({"residual": True}, "he2016deep"),
        *((fields, key) for key, fields in NEWER.items()),
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
