"""On a network that was trained here, a part's effect is what its right answers lose."""

import copy
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from playground.config import ModelConfig
from playground.training.network import evaluate, scores, select_scored
from playground.training.tasks import make_data
from playground.training.trained_network import TrainedNetwork
from tests.training.tiny import CPU
from tests.training.trained import CONFIG, trained
from tests.web.app_test import array, captions, charts, choose, new_page, prose, sentences
from tests.web.sidebar.test_trained_panel import put
from tests.web.views.what_if.what_if_page import PARTS, PRUNE, measured

WIDE: ModelConfig = replace(CONFIG, n_heads=4)


def opened(view: str, one: TrainedNetwork, **query: object) -> Any:
    asked = {"whatif_on": "right answers", "whatif_left": "right answers"} | query
    return measured(put(new_page("what_if", whatif_view=view, text=one.example, weights="trained here", **asked), one))


def cut(task: Any, heads: list[tuple[int, int]]) -> TrainedNetwork:
    """A copy of the network whose W_O reads nothing of these heads."""
    one = copy.deepcopy(trained(task, WIDE, steps=60))
    for layer, head in heads:
        one.encoder.get_parameter(f"layers.{layer}.attn.o.weight")[:, 4 * head : 4 * head + 4] = 0
    return one


def probability(one: TrainedNetwork) -> float:
    examples = make_data(one.recipe).validation
    with torch.inference_mode():
        logits, targets = select_scored(scores(one.network, examples, one.recipe), examples.targets)
    return float(logits.softmax(-1)[torch.arange(len(targets)), targets].mean())


@pytest.mark.sweep
def test_where_heads_stand_in_for_each_other_the_verdict_says_so_with_the_networks_own_numbers() -> None:
    """Reverse, once it is learnt: no head of a layer is missed much, all of its attention is."""
    wide = replace(CONFIG, d_model=32, n_heads=4, d_ff=64)
    one = trained("reverse", wide, steps=500, n_train=2000, batch_size=64, lr=0.003, warmup=50, n_validation=64)
    app = opened(PARTS, one, whatif_spread=True)
    effects, together = array(charts(app)["head_effects"]), []
    for layer in range(2):
        off = copy.deepcopy(one)
        for kind in ("weight", "bias"):
            off.encoder.get_parameter(f"layers.{layer}.attn.o.{kind}").data.zero_()
        together.append(probability(off) - probability(one))
    layer = int(np.argmax(np.abs(together)))
    strongest = effects[layer, np.abs(effects[layer]).argmax()]
    assert together[layer] < -0.5
    assert abs(together[layer]) > 2 * np.abs(effects[layer]).sum(), "what the words claim"
    verdict = re.search(r"\*\*Do striking heads matter\?(.*?)\.\*\* ", prose(app))
    assert verdict
    assert f"in layer {layer}, the strongest alone brings {strongest:+.4f}, ".replace("-", "−") in verdict[1]
    assert f"whole attention {together[layer]:+.4f}".replace("-", "−") in verdict[1]
    assert "others do its work" in verdict[1]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("task", ["reverse", "seq2seq-reverse"])
def test_each_heads_effect_is_what_the_right_answer_loses(task: Any) -> None:
    app = opened(PARTS, trained(task, WIDE, steps=60))
    whole = probability(cut(task, []))
    expected = [[probability(cut(task, [(layer, head)])) - whole for head in range(4)] for layer in range(2)]
    np.testing.assert_allclose(array(charts(app)["head_effects"]), expected, atol=1e-5)
    assert "16 validation sequences" in captions(app)
    assert ("the right beginning of each answer" in captions(app)) == (task == "seq2seq-reverse")


@pytest.mark.long
def test_pruning_follows_the_right_answers() -> None:
    app = opened(PRUNE, trained("reverse", WIDE, steps=60), whatif_pruned=4)
    whole = probability(cut("reverse", []))
    losses = [whole - probability(cut("reverse", [divmod(number, 4)])) for number in range(8)]
    order = np.argsort(losses, kind="stable").tolist()
    pruned = [cut("reverse", [divmod(number, 4) for number in order[:n]]) for n in range(9)]
    examples = make_data(pruned[0].recipe).validation
    accuracies = [evaluate(each.network, examples, each.recipe, CPU).accuracy for each in pruned]
    np.testing.assert_allclose(array(charts(app)["pruning_curves"], 2, "y"), accuracies, atol=0.03)
    assert "**Without the 4 of 8 heads with the least effect**, right answers" in prose(app)


def test_before_training_the_same_view_shows_the_random_network() -> None:
    one = trained("reverse", WIDE, steps=60)
    app = opened(PARTS, one)
    after = array(charts(app)["head_effects"])
    measured(choose(app, untrained=True))
    before = array(charts(app)["head_effects"])
    assert np.abs(before).max() < np.abs(after).max()


def test_pairs_of_tokens_have_no_right_answers() -> None:
    app = opened(PARTS, trained("reverse", WIDE, steps=60), whatif_parts="pairs of one head")
    assert "tokens of their own" in sentences(app)
    assert "pair_effects" in charts(app)


def test_what_followed_says_how_many_answers_are_right_over_the_validation_set() -> None:
    one = trained("reverse", WIDE, steps=60)
    query = {"text": one.example, "weights": "trained here", "do": "0.2:zero,1.1:zero"}
    app = put(new_page("what_if", **query), one)
    pruned = cut("reverse", [(0, 2), (1, 1)])
    examples = make_data(one.recipe).validation
    before, after = (evaluate(each.network, examples, each.recipe, CPU).accuracy for each in (one, pruned))
    assert f"**{after:.1%}** of the answers are right, before the changes {before:.1%}" in prose(app)
    assert f"**{probability(pruned):.1%}**, before {probability(one):.1%}" in prose(app)


def test_changes_of_tokens_have_no_validation_score() -> None:
    one = trained("reverse", WIDE, steps=60)
    query = {"text": one.example, "weights": "trained here", "do": "0.2:zero,1.1:uniform_0"}
    app = put(new_page("what_if", **query), one)
    assert "only changes of heads and sublayers apply" in captions(app)
    assert "of the answers are right" not in prose(app)
