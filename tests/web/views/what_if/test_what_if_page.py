"""The page What if in the app: what is measured against encoders without the part, buttons, old links."""

import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from playground import Encoder
from playground.config import ModelConfig
from playground.language.family import change, load_shipped
from playground.language.text import IDS, MASK_ID
from playground.link import english
from playground.model.changes import Change
from playground.runs.encoder_run import run
from playground.training.network import evaluate, scores, select_scored
from playground.training.tasks import make_data
from playground.training.trained_network import TrainedNetwork
from playground.web.views.what_if import measuring
from tests.training.tiny import CPU
from tests.training.trained import CONFIG as TRAINED
from tests.training.trained import trained
from tests.web.app_test import (
    SMALL,
    answer,
    array,
    charts,
    choose,
    component_data,
    new_page,
    open_page,
    open_panels,
    press,
    prose,
    sentences,
    values,
    without_error,
    words,
    working,
)
from tests.web.sidebar.test_trained_panel import put
from tests.web.views.what_if.what_if_page import (
    CONFIG,
    PAIR,
    PARTS,
    PLACES,
    cosine,
    measured,
    open_view,
    vector,
    without_heads,
)

FIRST, SECOND = PAIR.split("\n")
BEFORE = vector(Encoder(CONFIG, 0), FIRST)
WIDE: ModelConfig = replace(TRAINED, n_heads=4)
PRUNED = {"whatif_parts": "heads taken out"}


def effect(encoder: Encoder) -> float:
    return float(np.linalg.norm(vector(encoder, FIRST) - BEFORE) / np.linalg.norm(BEFORE))


def made(app: Any) -> list[Change]:
    return [each.change for each in app.session_state["do"].made]


def test_each_heads_effect_is_that_of_weights_without_it() -> None:
    app = open_view(PARTS)
    expected = [[effect(without_heads([(layer, head)])) for head in range(4)] for layer in range(2)]
    np.testing.assert_allclose(array(charts(app)["head_effects"]), expected, rtol=1e-3)
    layer, head = np.unravel_index(np.argmax(expected), (2, 4))
    assert f"**Layer {layer}, head {head} matters most**" in answer(app)
    choose(app, whatif_on="similarity")
    other = vector(Encoder(CONFIG, 0), SECOND)
    changes = [
        [cosine(vector(without_heads([(layer, head)]), FIRST), other) - cosine(BEFORE, other) for head in range(4)]
        for layer in range(2)
    ]
    np.testing.assert_allclose(array(charts(app)["head_effects"]), changes, atol=1e-5)
    encoder = Encoder(CONFIG, 0)
    with torch.no_grad():
        for kind in ("weight", "bias"):
            encoder.get_parameter(f"layers.1.ffn.down.{kind}").zero_()
    app = open_view(PARTS, whatif_parts="sublayers")
    assert array(charts(app)["sublayer_effects"])[1, 1] == pytest.approx(effect(encoder), rel=1e-3)


@pytest.mark.parametrize(
    ("kind", "press_of", "expected"),
    [
        ("heads", 0, [Change("zero", 1, 3)]),
        ("sublayers", 1, [Change("off", 1, None, ("ffn",))]),
        ("pairs of one head", 0, [Change("weight", 1, 3, (3, 5, 0.0))]),
        ("hidden tokens", 0, [Change("hide", 0, None, (5,)), Change("hide", 1, None, (5,))]),
        ("hidden tokens", 1, [Change("hide", 1, None, (5,))]),
    ],
)
def test_the_focused_part_becomes_a_change_by_a_press(kind: str, press_of: int, expected: list[Change]) -> None:
    app = open_view(PARTS, whatif_parts=kind, layer=1, head=3, query=3, key=5)
    before = {key: array(drawn) for key, drawn in charts(app).items()}
    press(app, f"whatif_switch_{press_of}")
    assert set(made(app)) == set(expected)
    for key, drawn in charts(app).items():
        np.testing.assert_array_equal(array(drawn), before[key], "the view leaves changes out")
    assert not made(press(app, f"whatif_switch_{press_of}")), "a second press takes them back"


@pytest.mark.parametrize("query", [{"whatif_on": "similarity", "text": "a cat"}, {"whatif_on": "right answers"}])
def test_what_cannot_be_measured_is_said_and_the_vector_stands_in(query: dict[str, str]) -> None:
    app = open_view(PARTS, **query)
    assert [info.value for info in app.info]
    assert array(charts(app)["head_effects"]).min() > 0


def test_a_map_of_too_many_parts_is_refused_in_one_sentence() -> None:
    app = open_page("what_if", whatif_view=PARTS, whatif_parts="pairs of one head", text="ab " * 70, layer=0, **SMALL)
    assert "too many" in sentences(app)
    assert "pair_effects" not in charts(app)


def test_heads_go_by_their_effect_and_a_press_takes_them_out() -> None:
    order = np.argsort(array(charts(open_view(PARTS))["head_effects"]).ravel(), kind="stable").tolist()
    app = open_view(PARTS, **PRUNED)
    assert app.slider(key="whatif_pruned").value == 8, "twenty are asked for, and the model has eight"
    left = [cosine(vector(without_heads([divmod(i, 4) for i in order[:n]]), FIRST), BEFORE) for n in range(9)]
    np.testing.assert_allclose(array(charts(app)["pruning_curves"], 2, "y"), left, atol=1e-5)
    press(app, "whatif_take_out_0")
    assert made(app) == [Change("zero", 0), Change("zero", 1)], "all heads of a layer are one change"
    press(app, "whatif_take_out_0")
    press(choose(app, whatif_pruned=5), "whatif_take_out_0")
    heads = {(each.layer, head) for each in made(app) for head in (range(4) if each.head is None else [each.head])}
    assert heads == {divmod(number, 4) for number in order[:5]}
    press(app, "whatif_take_out_followed")
    assert "whatif_heads" in charts(app)


def test_a_place_becomes_a_change() -> None:
    app = open_view(PLACES, sentence=2, whatif_other=1, layer=1, query=3)
    embeddings = array(charts(app)["patched_places"])[0]
    np.testing.assert_allclose(np.delete(embeddings, [2, 3, 4]), 0, atol=1e-4)
    press(app, "whatif_patch_0")
    press(app, "whatif_patch_1")
    assert made(app) == [Change("patch", 1, None, ("out", 3, 0)), Change("patch", None, None, ("embed", 3, 0))]


@pytest.mark.parametrize(("asked", "taken"), [(1, 2), (3, 4), (4, 4), (8, 4)])
def test_a_sentence_that_cannot_be_patched_from_gives_way_to_the_next_that_can(asked: int, taken: int) -> None:
    app = open_view(PLACES, "a cat sat\na dog sat\na long sentence\na fox ran", whatif_other=asked)
    assert any(each.value.startswith(f"Sentence {taken}: ") for each in app.caption)


def test_without_a_pair_a_button_copies_the_sentence_with_another_word() -> None:
    link = {**SMALL, "text": "The man saw it", "query": 5, "do": "0.1:zero,0.*:hide_3"}
    app = open_page("what_if", whatif_view=PLACES, **link)
    assert "patched_places" not in charts(app)
    measured(press(app, "whatif_corrupt"))
    changed = app.session_state["text"].split("\n")
    assert (changed[0], changed[1][:4], changed[1][7:]) == ("The man saw it", "The ", " saw it")
    assert changed[1] != changed[0]
    assert (app.session_state["sentence"], app.session_state["whatif_other"]) == (2, 1)
    assert app.session_state["query"] == next(i for i in range(14) if changed[0][i] != changed[1][i])
    assert array(charts(app)["patched_places"]).shape == (3, 14)
    assert [each.is_on for each in app.session_state["do"].made] == [True, False], "token 3 is another one here"


def test_the_verdict_compares_once_every_head_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "BY_ITSELF", -1.0)
    monkeypatch.setattr(measuring, "MOST_TOGETHER", 2)
    app = open_page("what_if", **SMALL, seed=302, text="another text of its own", do="0.1:zero")
    assert len(app.get("progress")) == 1
    assert "median" not in answer(app)
    press(app, "whatif_effects_measure")
    while component_data(app, "ask_again"):
        working(app.run())
    assert "the median of the 8 heads" in answer(working(app.run()))
    assert not app.get("progress")
    monkeypatch.setattr(measuring, "MAX_PASSES", 1)
    app = without_error(open_page("what_if", **SMALL, seed=303, text="a third text", do="0.1:zero"))
    assert "of its length." in answer(app), "too many heads are no reason to say nothing"


def test_panels_stay_open_while_the_focus_moves_and_an_old_link_opens_the_one_it_needs() -> None:
    app = open_page("what_if", **SMALL, text=PAIR, do="0.1:zero", whatif_measure="cosine")
    assert app.session_state["whatif_tokens"]
    open_panels(app, "whatif_chosen", "whatif_sentence")
    choose(app, layer=1, head=3)
    assert charts(app).keys() >= {"whatif_before", "whatif_vectors"}
    app.session_state["whatif_tokens"] = False
    assert "whatif_vectors" not in charts(working(app.run()))
    assert values(app, "whatif_measure") == {"whatif_measure": "cosine"}


def opened(one: TrainedNetwork, **query: object) -> Any:
    return put(new_page("what_if", **{"text": one.example, "weights": "trained here", **query}), one)


def cut_heads(task: Any, heads: list[tuple[int, int]]) -> TrainedNetwork:
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


@pytest.mark.parametrize("task", ["reverse", "seq2seq-reverse"])
def test_a_heads_effect_on_right_answers_is_what_the_network_without_it_loses(task: Any) -> None:
    app = measured(opened(trained(task, WIDE, steps=60), whatif_view=PARTS, whatif_on="right answers"))
    whole = probability(cut_heads(task, []))
    expected = [[probability(cut_heads(task, [(i, head)])) - whole for head in range(4)] for i in range(2)]
    np.testing.assert_allclose(array(charts(app)["head_effects"]), expected, atol=1e-5)


def test_what_followed_says_how_many_answers_are_right_over_the_validation_set() -> None:
    one = trained("reverse", WIDE, steps=60)
    app = opened(one, do="0.2:zero,1.1:zero")
    pruned = cut_heads("reverse", [(0, 2), (1, 1)])
    examples = make_data(one.recipe).validation
    before, after = (evaluate(each.network, examples, each.recipe, CPU).accuracy for each in (one, pruned))
    assert f"**{after:.0%}** of the answers are right (before: {before:.0%})" in prose(app)
    assert "of the answers are right" not in prose(opened(one, do="0.2:zero,1.1:uniform_0"))


def test_each_heads_effect_on_a_hidden_word_is_that_of_a_pass_without_it() -> None:
    small = {**english.values_of(change(n_layers=1)), "weights": "english", "whatif_on": "right answers"}
    app = measured(open_page("what_if", whatif_view=PARTS, **small))
    network = load_shipped(change(n_layers=1))
    batch = network.tokenizer.encode_batch([english.TEXT])
    batch.ids[0, english.PLACE] = MASK_ID

    def word(*changes: Change) -> float:
        final = run(network.encoder, batch, interventions=changes).arrays["final"][english.PLACE]
        return float(network.network.head(torch.tensor(final)).softmax(-1)[IDS["animal"]])

    expected = [[word(Change("zero", 0, head)) - word() for head in range(4)]]
    np.testing.assert_allclose(array(charts(app)["head_effects"]), expected, atol=1e-5)


@pytest.mark.sweep
@pytest.mark.parametrize("changes", [
    {"norm_placement": "pre", "final_norm": True, "causal": True}, {"tokenizer": "vectors"},
    {"norm": "none", "residual": False, "n_heads": 1, "n_layers": 1, "positions": "none"},
], ids=str)  # fmt: skip
@pytest.mark.parametrize("text", [PAIR, "x", "<b>$x$</b>\nعربى 🧭 `c` [a](b)\nx"], ids=["pair", "one token", "odd"])
def test_every_view_is_drawn_in_every_architecture(text: str, changes: dict[str, object]) -> None:
    app = open_view(PARTS, text, whatif_spread=True, **changes)
    assert {"head_effects", "head_spread", "spread_and_effect"} <= set(charts(app))
    for kind, chart in (("sublayers", "sublayer_effects"), ("hidden tokens", "hidden_tokens")):
        assert chart in charts(choose(app, whatif_parts=kind))
    choose(app, whatif_parts="pairs of one head")
    assert ("pair_effects" in charts(app)) != ("no pair can be cut" in sentences(app))
    assert np.isfinite(array(charts(open_view(PARTS, text, **PRUNED, **changes))["pruning_curves"], 2, "y")).all()
    app = open_page("what_if", **SMALL | changes, text=text, do="0.0:zero", whatif_view=PLACES)
    assert "nan" not in words(choose(app, whatif_view="what followed")).lower().split()
