"""Named architectures have the sizes that their papers, checkpoints and tutorials state."""

import pytest

from playground import count_parameters
from playground.presets import PRESETS
from playground.words import say

TOTALS = {
    "minilm-l6": 22_713_216 - 147_840,  # all-MiniLM-L6-v2 without its pooler, 384² + 384
    "tutorial-a": 18_902_042 + 2_560,
    "tutorial-b": 3_280,
    "tutorial-c": 15_761_920,
    "tutorial-d": 24_035_328,
    "tutorial-e": 24_034_304,
    "vaswani-base": 37_858_304,
    "vaswani-big": 113_465_344,
    "bert-base": 108_891_648,  # 109,482,240 with its pooler
    "bert-large": 334_092_288,  # 335,141,888 with its pooler
    "roberta-base": 124_055_040,  # these are the published checkpoints' own, without poolers and heads
    "distilbert-base": 66_362_880,
    "albert-base": 11_092_992,
    "electra-small": 13_483_008,
    "t5-base": 109_628_544,
    "modernbert-base": 149_014_272,
    "modernbert-large": 394_781_696,
    "gpt-2": 124_439_808,
    "gpt-3": 174_604_259_328,
}


@pytest.mark.parametrize("name", PRESETS)
def test_totals_are_the_published_ones(name: str) -> None:
    assert count_parameters(PRESETS[name].config).total == TOTALS[name]
    assert say("parameters", f"source-{name}")
    assert (PRESETS[name].tokenizer == "vectors") == (PRESETS[name].config.vocab_size == 0)
