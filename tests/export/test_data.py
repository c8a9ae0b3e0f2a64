"""A whole run as a file: what is read back is what the model computed, and says what it is of and rests on."""

import io
import json
import re
from typing import Any

import numpy as np
import pytest
import torch

from playground import Encoder, ModelConfig, Trace
from playground.export import data
from playground.export.data import weights_sha256
from playground.runs.encoder_run import Run, run
from playground.text import characters
from tests.web.app_test import SMALL_CONFIG

SENTENCE = "héllo =1+1 \ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16")


def small_run(**changes: Any) -> Run:
    config = ModelConfig(**SMALL_CONFIG | changes)
    return run(Encoder(config, seed=1), characters().encode_batch([SENTENCE, "a longer sentence"]), keep=lambda _: True)


KINDS: list[dict[str, Any]] = [
    {}, {"norm_placement": "pre", "final_norm": True}, {"fused_qkv": True, "head_merge": "reshape"}, {"vocab_size": 0},
    {"norm": "scalar", "n_heads": 1}, {"norm": "rms", "residual": False, "positions": "learned"},
    {"positions": "rotary", "gated": True}, {"positions": "relative", "qk_norm": True}, {"norm_placement": "both"},
]  # fmt: skip


@pytest.mark.parametrize("changes", KINDS, ids=str)
def test_points_and_numbers_are_those_of_the_trace(changes: dict[str, Any]) -> None:
    made = small_run(**changes)
    points = data.list_points(made.config)
    assert sorted(data.name_arrays(made.config, points)) == sorted(made.arrays)
    n = data.count_numbers(made.config, len(made.tokens), points)
    assert n == sum(array.size for array in made.arrays.values())


def test_a_file_has_the_arrays_and_what_they_are_of() -> None:
    made = small_run()
    about = data.describe_run(
        made, seed=1, causal=False, sentence=SENTENCE, weights="random", link="http://x/?seed=1&v=2", do="1.1:zero"
    )
    file = np.load(io.BytesIO(data.write_npz(about, made.arrays)), allow_pickle=False)
    for name, array in made.arrays.items():
        np.testing.assert_array_equal(file[name], array)
    said = json.loads(str(file["about"]))
    assert said == about
    trace = Trace()
    with torch.inference_mode():
        ids = characters().encode_batch([said["sentence"], "a longer sentence"])
        Encoder(ModelConfig(**said["config"]), said["seed"])(ids.ids[:1], ids.mask[:1], trace)
    np.testing.assert_allclose(trace["final"][0].numpy(), made.arrays["final"], atol=1e-6)


def test_the_fingerprint_is_of_names_shapes_and_numbers() -> None:
    configs = [ModelConfig(**SMALL_CONFIG | {"n_layers": n}) for n in (1, 2)]
    first, *others = (weights_sha256(Encoder(config, seed)) for config in configs for seed in (1, 2))
    assert first == weights_sha256(Encoder(configs[0], seed=1))
    assert first not in others
    assert re.fullmatch("[0-9a-f]{64}", first)
