"""What the two sides are called: by what differs, and by nothing that nobody sees."""

from typing import Any

import pytest

from playground.analysis.comparison import count_shared
from playground.config import ModelConfig
from playground.link.params import SHARED
from playground.web.shared.pinning import Difference, list_differences, summarise_shared
from tests.web.app_test import SMALL, captions, charts, open_page, prose

NOW: dict[str, Any] = {key: param.default for key, param in SHARED.items()}


@pytest.mark.parametrize(
    ("pinned", "now", "differences"),
    [
        ({}, {}, []),
        ({"n_layers": 6}, {"n_layers": 12}, [Difference("n_layers", "6", "12")]),
        (
            {"norm_placement": "pre", "causal": True},
            {},
            [Difference("norm placement", "pre", "post"), Difference("causal", "on", "off")],
        ),
        ({"vocab_size": 300}, {}, []),
        ({"vocab_size": 300, "tokenizer": "bpe"}, {"tokenizer": "bpe"}, [Difference("vocab size", "300", "2000")]),
        ({"untrained": True}, {}, []),
        (
            {"untrained": True, "weights": "trained here"},
            {"weights": "trained here"},
            [Difference("before training", "on", "off")],
        ),
        ({"text": "a\nb"}, {"text": ""}, [Difference("text", "“ab”", "“”")]),
    ],
)
def test_differences_are_those_that_can_be_seen(
    pinned: dict[str, Any], now: dict[str, Any], differences: list[Difference]
) -> None:
    assert list_differences(NOW | pinned, NOW | now) == differences


def test_a_sides_name_has_two_differences_and_says_how_many_more_and_the_page_has_them_all() -> None:
    app = open_page("norms", **SMALL, b_n_layers=4, b_d_ff=64, b_seed=5, b_norm="rms")
    assert "dotted: pinned: n_layers 4, d_ff 64 and 2 more" in {trace["name"] for trace in charts(app)["norms_by_layer"]
                                                               if "name" in trace}  # fmt: skip
    told = prose(app).replace("\\", "")
    assert all(words in told for words in ("n_layers 4 → 2", "d_ff 64 → 32", "norm rms → layer", "seed 5 → 0"))


def test_a_pinned_text_acts_as_no_markup() -> None:
    app = open_page("norms", **SMALL, b_text="<b>**x**</b> [y](z)")
    names = [trace.get("name", "") for trace in charts(app)["norms_by_layer"]]
    assert not [name for name in names if "<b>" in name]
    assert [name for name in names if "&lt;b&gt;" in name]
    assert "**x**" not in prose(app) + captions(app)


def test_every_random_weight_of_the_present_model_is_accounted_for() -> None:
    config = ModelConfig(vocab_size=50, d_model=16, n_heads=4, n_layers=2, d_ff=32)
    wider = ModelConfig(vocab_size=50, d_model=32, n_heads=4, n_layers=3, d_ff=32)
    same = summarise_shared(count_shared(config, config), 7)
    total = 50 * 16 + 2 * (4 * 16 * 16 + 2 * 16 * 32)
    assert f"all {total:,} random weights" in same
    assert "seed 7" in same
    told = summarise_shared(count_shared(config, wider), 7)
    numbers = [int(word.replace(",", "")) for word in told.replace("seed 7.", "").split() if word[0].isdigit()]
    assert numbers[0] == 50 * 32 + 3 * (4 * 32 * 32 + 2 * 32 * 32) == sum(numbers[1:])
