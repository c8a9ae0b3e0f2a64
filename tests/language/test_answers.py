"""Answers for a hidden word: their probabilities, and what each head's removal costs them, against the head itself."""

from typing import Any

import pytest
import torch

from playground.language.answers import answer_example, head_costs, nearest_sentences, write_masked
from playground.language.capabilities import CAPABILITIES
from playground.language.family import change
from playground.language.network import EnglishNetwork
from playground.language.text import IDS, MASK_ID, VOCABULARY


def untrained(seed: int = 0, **settings: Any) -> EnglishNetwork:
    spec = change(**settings)
    network = spec.build().requires_grad_(False)
    drawn = torch.randn(network.head.weight.shape, generator=torch.Generator().manual_seed(seed))
    with torch.inference_mode():
        network.head.weight.copy_(drawn / 10)
    return EnglishNetwork(spec, network, {})


@pytest.mark.parametrize("settings", [{}, {"causal": True, "n_layers": 1}, {"norm": "none"}], ids=str)
def test_a_heads_cost_is_what_its_output_brought_to_the_words_probability(settings: dict[str, Any]) -> None:
    trained, example = untrained(**settings), CAPABILITIES["recall"].examples(1)[0]
    batch, word = trained.tokenizer.encode_batch([write_masked(example)]), IDS[example.answer]
    place = example.place + 1
    assert batch.ids[0, place] == MASK_ID
    costs = head_costs(trained.network, batch, 0, place, word, causal=trained.spec.causal)
    config = trained.encoder.config
    assert costs.shape == (config.n_layers, config.n_heads)

    probability = dict(trained.predict(write_masked(example), len(IDS)))[example.answer]
    layer, head = config.n_layers - 1, 1
    with torch.inference_mode():  # what the head hands to the output projection is taken from there
        weight = trained.encoder.get_parameter(f"layers.{layer}.attn.o.weight")
        weight[:, head * config.head_width : (head + 1) * config.head_width] = 0
    without = dict(trained.predict(write_masked(example), len(IDS)))[example.answer]
    assert abs(costs[layer, head]) > 1e-6
    assert costs[layer, head] == pytest.approx(probability - without, rel=0.01, abs=1e-8)


def test_an_answer_names_the_costliest_head_and_the_options_probabilities() -> None:
    trained, example = untrained(), CAPABILITIES["agreement"].examples(1)[0]
    answer = answer_example(trained, example)
    assert tuple(answer.probabilities) == example.options == ("is", "are")
    batch = trained.tokenizer.encode_batch([write_masked(example)])
    costs = head_costs(trained.network, batch, 0, example.place + 1, IDS[example.answer])
    assert answer.cost == costs[answer.layer, answer.head] == costs.max()


def test_the_nearest_share_words_and_all_their_words_are_known() -> None:
    own = CAPABILITIES["recall"].examples(1)[0]
    assert own in nearest_sentences(" ".join(own.words))
    for text, word in (("Why did the dog bite the queen?", "dog"), ("The box is full!", "full")):
        found = nearest_sentences(text)
        assert len(found) == 3
        assert len({example.words for example in found}) == 3
        assert any(word in example.words for example in found)
        assert all(set(example.words) <= set(VOCABULARY) for example in found)
