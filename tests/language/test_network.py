"""A network of the small English: what it fills in, its file, and what a damaged or foreign file is told."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import safetensors.torch
import torch

from playground.errors import InputError, WeightsError
from playground.language import CAPABILITIES
from playground.language.network import BASE, EnglishNetwork, Spec, load, save, share_right
from playground.language.text import IDS, MASK_ID, VOCABULARY, encode
from playground.weights import read_metadata

SMALL = Spec(replace(BASE, d_model=8, n_heads=2, d_ff=16, n_layers=1))


def untrained(spec: Spec = SMALL) -> EnglishNetwork:
    network = spec.build().requires_grad_(False)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(parameter.half().float())
    return EnglishNetwork(spec, network, {"recall": 0.5})


def test_it_fills_in_the_word_that_its_head_scores_highest() -> None:
    trained, text = untrained(), "The keys near the old box [MASK] rusty."
    found = trained.predict(text, n=len(VOCABULARY))
    assert sum(p for _, p in found) == pytest.approx(1, abs=1e-5)
    assert [p for _, p in found] == sorted((p for _, p in found), reverse=True)
    ids = trained.tokenizer.encode_batch([text]).ids
    x = trained.encoder(ids)[0, int((ids[0] == MASK_ID).nonzero())]
    scores = trained.network.head.weight @ x + trained.network.head.bias
    assert dict(found)["are"] == pytest.approx(float(scores.softmax(0)[IDS["are"]]), abs=1e-6)
    assert trained.predict(text)[0] == found[0]


@pytest.mark.parametrize("text", ["", "The key is old.", "The [MASK] is [MASK]."])
def test_it_fills_in_one_mask_and_no_other_number(text: str) -> None:
    with pytest.raises(InputError, match=r"write \[MASK\] once"):
        untrained().predict(text)


@pytest.mark.parametrize("causal", [False, True])
def test_the_share_right_is_that_of_plain_passes_without_padding(*, causal: bool) -> None:
    trained, examples = untrained(replace(SMALL, causal=causal)), CAPABILITIES["agreement"].examples(40)
    n_right = 0
    for example in examples:
        ids, (place,) = encode([example])
        ids[0, place] = MASK_ID
        mask = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril()[None] if causal else None
        scores = trained.network(ids, mask)[0, place]
        n_right += bool(all(scores[IDS[example.answer]] >= scores[IDS[option]] for option in example.options))
    # One sentence of 40 may be a near tie that padding rounds to the other side.
    assert share_right(trained.network, trained.spec, examples) == pytest.approx(n_right / 40, abs=1.01 / 40)


def test_a_file_brings_back_the_same_network() -> None:
    trained = untrained()
    loaded = load(save(trained), SMALL)
    assert loaded.shares == {"recall": 0.5}
    assert loaded.spec == SMALL
    for name, tensor in trained.network.state_dict().items():
        assert torch.equal(tensor, loaded.network.state_dict()[name])
    assert not any(parameter.requires_grad for parameter in loaded.network.parameters())
    assert len(save(trained)) < 2 * sum(p.numel() for p in trained.network.parameters()) + 4_000


def rewritten(change: Callable[[dict[str, str]], None]) -> bytes:
    content = save(untrained())
    metadata = dict(read_metadata(content))
    change(metadata)
    return safetensors.torch.save(safetensors.torch.load(content), metadata)


def test_a_file_of_another_network_or_version_is_refused() -> None:
    with pytest.raises(WeightsError, match="another network"):
        load(save(untrained()), replace(SMALL, seed=1))
    with pytest.raises(WeightsError, match="another network"):
        load(save(untrained()), Spec())
    with pytest.raises(WeightsError, match="not a network of this version"):
        load(rewritten(lambda metadata: metadata.update(format="small-english-0")), SMALL)
    with pytest.raises(WeightsError, match="not a network of this version"):
        load(rewritten(dict.clear), SMALL)
