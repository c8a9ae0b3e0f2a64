"""What followed is what two runs of the model differ by."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
import torch

from playground import Encoder, ModelConfig
from playground.analysis.sentences import POOLINGS
from playground.model.changes import Change
from playground.runs.encoder_run import Run, run
from playground.text import characters
from playground.text.wording import write_share
from playground.training.network import Tagger
from playground.web.views.what_if import measurements
from tests.training.trained import trained
from tests.web.app_test import (
    SMALL,
    SMALL_CONFIG,
    answer,
    captions,
    charts,
    choose,
    component_data,
    new_page,
    open_page,
    open_panels,
    press,
    prose,
    table,
    values,
    without_error,
    words,
    working,
)
from tests.web.sidebar.test_trained_panel import put

TEXT = "abcdefgh\nabc\nhgf edc"


def small_run(sentence: int, *changes: Any) -> Run:
    encoder = Encoder(ModelConfig(**SMALL_CONFIG), 0)
    return run(encoder, characters().encode_batch(TEXT.split("\n")), sentence, interventions=changes)


def pooled(of: Run, pooling: str) -> Any:
    final = of.arrays["final"]
    if pooling == "first token":
        return final[0]
    return final.mean(axis=0) if pooling == "mean with padding" else final[~of.padding].mean(axis=0)


def cosine(one: Any, two: Any) -> float:
    return float(one @ two / np.linalg.norm(one) / np.linalg.norm(two))


@pytest.mark.parametrize("pooling", POOLINGS)
def test_similarities_before_and_after_are_those_of_the_runs(pooling: str) -> None:
    app = without_error(
        open_page("what_if", **SMALL, text=TEXT, do="0.1:zero", whatif_pooling=pooling, whatif_sentence=True)
    )
    shown = table(app, "before").set_index("sentences")
    for one, two in combinations(range(3), 2):
        for column, changes in (("before", []), ("after", [Change("zero", 0, 1)])):
            expected = cosine(*(pooled(small_run(sentence, *changes), pooling) for sentence in (one, two)))
            assert shown[column][f"{one + 1} and {two + 1}"] == pytest.approx(expected, abs=1e-5)
    assert ("padding" in captions(app)) or pooling == "first token"


@pytest.mark.sweep
@pytest.mark.parametrize("query", [
    {"text": "a"}, {"causal": "true"}, {"norm": "none", "residual": "false"}, {"n_layers": "1", "do": "0.*:off"},
    {"tokenizer": "vectors"}, {"norm": "none", "n_layers": "96", "d_model": "64"}, {"do": "1.2:zero~0"},
    {"do": "-1.2:zero"}, {"do": "9.9:zero"},
])  # fmt: skip
def test_every_state_is_drawn(query: dict[str, str]) -> None:
    app = without_error(open_page("what_if", **SMALL | {"text": TEXT, "do": "0.1:zero"} | query))
    applies = query.get("do", "0.*:off") == "0.*:off"
    assert bool(charts(app).keys() & {"whatif_heads", "whatif_vectors"}) == applies
    open_panels(app, *["whatif_tokens", "whatif_sentence", "whatif_chosen"] * applies)
    assert ("whatif_vectors" in charts(app)) == applies
    assert "nan" not in words(app).lower().split()


@pytest.mark.parametrize(
    ("do", "told"),
    [("", "Nothing is changed"), ("9.9:zero", "not fit this sentence"), ("-1.2:zero", "switched off"),
     ("-1.2:zero,9.9:zero", "not fit this sentence")],
)  # fmt: skip
def test_without_a_change_it_says_which_of_the_reasons_there_is(do: str, told: str) -> None:
    shown = answer(without_error(open_page("what_if", **SMALL, do=do)))
    assert [each in shown for each in ("Nothing is changed", "not fit this sentence", "switched off")] == [
        each == told for each in ("Nothing is changed", "not fit this sentence", "switched off")
    ]


def test_the_verdict_follows_the_measurement_of_every_head() -> None:
    text, change = "a text of its own", Change("zero", 0, 1)
    app = open_page("what_if", **SMALL, seed=301, text=text, do="0.1:zero")
    told = answer(app)
    encoder, batch = Encoder(ModelConfig(**SMALL_CONFIG), 301), characters().encode_batch([text])

    def moved(change: Change) -> float:
        before, after = (
            run(encoder, batch, interventions=each).arrays["final"].mean(axis=0) for each in ((), (change,))
        )
        return float(np.linalg.norm(after - before) / np.linalg.norm(before))

    assert f"**{write_share(moved(change))}**" in told
    assert "each of the 8 heads is switched off alone: 0 so far" in told
    assert not app.get("progress"), "the sentence itself says how far it is"
    for _ in range(60):
        if not component_data(app, "ask_again"):
            break
        working(app.run())
    effects = [moved(Change("zero", layer, head)) for layer in range(2) for head in range(4)]
    told = answer(app)
    assert f"**{write_share(float(np.median(effects)))}**" in told
    n = sum(effect > effects[1] for effect in effects)
    assert f"and {n or 'no'} other head" in told


def test_a_long_measurement_is_asked_for_below_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measurements, "BY_ITSELF", -1.0)
    monkeypatch.setattr(measurements, "MOST_TOGETHER", 2)
    app = open_page("what_if", **SMALL, seed=302, text="another text of its own", do="0.1:zero")
    assert len(app.get("progress")) == 1
    assert not app.button(key="whatif_effects_measure").disabled
    assert "0 so far" in answer(app)
    working(app.run())
    assert "2 so far" in answer(app)
    press(app, "whatif_effects_measure")
    while component_data(app, "ask_again"):
        working(app.run())
    assert "the median of the 8 heads" in answer(app)


def test_too_many_heads_are_no_reason_to_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measurements, "MAX_PASSES", 1)
    app = without_error(open_page("what_if", **SMALL, seed=303, text="a third text", do="0.1:zero"))
    assert "of its length." in answer(app)
    assert "heads" not in answer(app)


@pytest.mark.parametrize(
    ("link", "panel"), [("whatif_measure=cosine", "whatif_tokens"), ("whatif_pooling=first token", "whatif_sentence")]
)
def test_an_old_link_opens_the_panel_that_it_needs(link: str, panel: str) -> None:
    key, value = link.split("=")
    app = without_error(open_page("what_if", **SMALL, text=TEXT, do="0.1:zero", **{key: value}))
    assert app.session_state[panel]
    assert values(app, key) == {key: value}
    assert ("whatif_vectors" in charts(app)) == (panel == "whatif_tokens")


def test_panels_stay_open_while_the_focus_moves_and_keep_their_choice_while_closed() -> None:
    app = open_page("what_if", **SMALL, text=TEXT, do="0.1:zero", whatif_chosen=True, whatif_tokens=True)
    assert charts(app).keys() >= {"whatif_before", "whatif_vectors"}
    choose(app, layer=1, head=3, whatif_measure="cosine")
    assert charts(app).keys() >= {"whatif_before", "whatif_vectors"}
    app.session_state["whatif_tokens"] = False
    assert "whatif_vectors" not in charts(working(app.run()))
    assert values(app, "whatif_measure") == {"whatif_measure": "cosine"}


@pytest.mark.parametrize("task", ["reverse", "characters", "count", "brackets"])
def test_right_answers_of_a_network_trained_here(task: Any) -> None:
    one = trained(task)
    app = without_error(put(new_page("what_if", text=one.example, weights="trained here", do="0.0:zero"), one))
    assert isinstance(one.network, Tagger)
    batch = one.tokenizer.encode_batch([one.example])
    n = batch.ids.shape[1]
    mask = torch.ones(1, n, n).tril().bool() if one.task.predicts_next else batch.mask
    with torch.no_grad():
        shares = one.network(batch.ids, mask)[0].softmax(-1)
    if one.task.predicts_next:
        right = shares[range(n - 1), batch.ids[0, 1:]]
    else:
        right = shares[range(n), one.task.examples(batch.ids, one.recipe.length).targets[0]]  # type: ignore[attr-defined]
    assert f"before the changes {float(right.mean()):.0%}" in prose(app)
    assert "validation sequences" in prose(app)


def test_a_decoder_and_strange_symbols_have_no_right_answer() -> None:
    one = trained("reverse")
    app = without_error(put(new_page("what_if", text="Q ? !", weights="trained here", do="0.0:zero"), one))
    assert "no right answer" in captions(app)
    other = trained("seq2seq-reverse")
    app = without_error(put(new_page("what_if", text=other.example, weights="trained here", do="0.0:zero"), other))
    assert "no right answer" in captions(app)
    assert "validation sequences" in prose(app)
