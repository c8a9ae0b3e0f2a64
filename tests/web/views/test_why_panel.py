"""The panel beside the map says and draws what the analysis computes for the cell, in every state of the model."""

import re
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from playground.analysis.counterfactuals import TEN_SENTENCES
from playground.charts.names import subscript
from playground.link import open_link
from playground.runs.arrays import Array
from playground.runs.encoder_run import run
from playground.text.wording import write_amount
from playground.web.views import attention
from playground.weights import checkpoint
from tests.web.app_test import (
    SMALL,
    array,
    captions,
    charts,
    choose,
    drawn_bars,
    open_page,
    open_panels,
    prose,
    table,
    trained_trace,
    without_error,
    words,
)

STEPS = {
    "sources": {"why_key_sources", "why_query_sources"},
    "competition": {"why_competition"},
    "products": {"why_products"},
    "what it moves": {"why_moved"},
}
SENTENCE = "The animal didn't cross the street because it was too tired."
EIGHT = "\n".join("x" * length for length in range(1, 9))
"""As many sentences as a text may have, each padded to the longest."""


def trained_tokens() -> list[str]:
    """Those of the sentence that the page opens with."""
    tokens: list[str] = checkpoint.load("minilm")[1].encode_batch([SENTENCE]).tokens[0]
    return tokens


def drawn(app: AppTest) -> set[str]:
    """The charts of the chosen step."""
    return {name for name in {*charts(app), *drawn_bars(app)} if name.startswith("why_")} - {"why_parts"}


def told(app: AppTest, pattern: str) -> float:
    """The number that the panel's first lines give."""
    found = re.search(pattern, prose(app))
    assert found, prose(app)
    return float(found[1].replace("−", "-"))


def test_the_trained_models_cell_is_explained_with_its_own_numbers() -> None:
    app = without_error(open_page("attention", attention_steps=True))
    trace = trained_trace()
    pattern = trace["layers.3.attn.pattern"][0, 1, 10].numpy()
    scores = trace["layers.3.attn.scores"][0, 1, 10].numpy()
    key = int(pattern.argmax())
    assert app.header[0].value == f"Why does `it`₁₀ look at `animal`{'₀₁₂₃₄₅₆₇₈₉'[key]}?"
    assert told(app, r"weight \*\*([\d.]+)\*\*") == round(float(pattern[key]), 2)
    assert told(app, r"score is (−?[\d.]+),") == round(float(scores[key]), 2)
    rival = strongest_other_word(scores, 10, key)
    lead = float(scores[key] - scores[rival])
    for chart in STEPS["sources"]:
        bars = drawn_bars(app)[chart]
        assert sum(bars["values"]) == pytest.approx(lead, abs=1e-3)
        assert bars["labels"][0] == "token"
        assert len(bars["labels"]) == 4 + 2 * 3
    assert f"Together: {write_amount(lead, '+')}." in captions(app)
    assert f"add up to {write_amount(lead, '+')}" in captions(app)
    names = f"`animal`{subscript(key)}", f"`{trained_tokens()[rival]}`{subscript(rival)}"
    assert f"Score of {names[0]} minus score of {names[1]}" in captions(app)
    parts = drawn_bars(app)["why_parts"]
    assert sum(parts["values"]) == pytest.approx(lead, abs=1e-3)
    split = drawn_bars(app)["why_key_sources"]
    by_source = dict(zip(split["labels"], split["values"], strict=True))
    earlier = [by_source[f"layer {layer} attention"] for layer in range(3)]
    assert parts["values"][parts["labels"].index("earlier attention")] == pytest.approx(sum(earlier), abs=1e-3)
    open_panels(app, "why_key_sources_open")
    assert table(app, "layer 2 feed-forward").to_numpy().sum() == pytest.approx(lead, abs=1e-4)

    choose(app, attention_why="competition")
    np.testing.assert_allclose(drawn_bars(app)["why_competition"]["values"], np.sort(pattern)[::-1], rtol=1e-3)
    choose(app, attention_why="products")
    line = charts(app)["why_products"][1]
    assert array([line], name="y")[-1] == pytest.approx(scores[key], abs=1e-4)
    choose(app, attention_why="what it moves")
    open_panels(app, "why_moved_open")
    assert table(app, "share of the head's output")["share of the head's output"].sum() == pytest.approx(1, abs=1e-5)


@pytest.mark.sweep
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"norm_placement": "pre", "final_norm": True, "causal": True, "layer": 1},
        {"norm": "scalar", "fused_qkv": True, "head_merge": "reshape", "layer": 1},
        {"norm": "rms", "residual": False, "layer": 1},
        {"norm": "none", "positions": "none", "n_segments": 0, "layer": 1},
        {"tokenizer": "vectors", "positions": "sinusoidal-doubled"},
        {"text": EIGHT, "sentence": 8},
        {"text": EIGHT, "sentence": 2, "key": 0, "causal": True, "attention_hide": True},
        {"n_layers": 12, "layer": 11},
        {"n_heads": 16},
    ],
    ids=[
        "random",
        "pre-norm",
        "reshape",
        "no residual",
        "no norm",
        "vectors",
        "8 sentences",
        "padding",
        "deep",
        "thin",
    ],
)
@pytest.mark.parametrize("step", STEPS)
def test_every_step_opens_in_every_architecture(changes: dict[str, Any], step: str) -> None:
    link = SMALL | {"text": "a cat <b>sat</b>", "attention_why": step}
    app = without_error(open_page("attention", **link | changes))
    assert drawn(app) == STEPS[step]
    assert not {"nan", "inf", "-inf"} & set(re.findall(r"[-\w]+", words(app)))
    open_panels(app, f"{min(STEPS[step])}_open")
    assert not app.dataframe[0].value.isna().any(axis=None)
    parts = drawn_bars(app)["why_parts"]
    assert len(parts["labels"]) == 5, "the same for every cell and layer"
    if step == "sources":
        left, right = (sum(drawn_bars(app)[name]["values"]) for name in sorted(STEPS[step]))
        assert left == pytest.approx(right, abs=1e-3)
        assert sum(parts["values"]) == pytest.approx(left, abs=1e-3)


@pytest.mark.parametrize("step", STEPS)
def test_an_only_key_has_a_weight_of_one_and_nothing_to_compare(step: str) -> None:
    app = open_page("attention", **SMALL, text="a", attention_why=step)
    assert drawn(without_error(app)) == (set() if step == "sources" else STEPS[step])
    assert "why_parts" not in drawn_bars(app)
    assert "only key" in prose(app)
    assert told(app, r"weight \*\*([\d.]+)\*\*") == 1


def test_numbers_out_of_range_are_said_to_be() -> None:
    deep = {"norm": "none", "n_layers": 96, "d_model": 64, "layer": 95}
    app = open_page("attention", **SMALL | deep)
    assert drawn(without_error(app)) == set()
    assert "range of 32-bit floats" in prose(app)


@pytest.mark.sweep
@pytest.mark.parametrize("depth", [20, 35, 50])
@pytest.mark.parametrize("step", STEPS)
def test_huge_scores_are_written_shortly_and_never_overflow(depth: int, step: str) -> None:
    deep = {"norm": "none", "n_layers": depth, "d_model": 64, "layer": depth - 1, "query": 2}
    app = without_error(open_page("attention", **SMALL | deep, text="abcdef", attention_why=step))
    assert drawn(app) == STEPS[step] or (step == "sources" and "round away" in prose(app))
    assert max(map(len, re.findall(r"[\d.]+", words(app)))) < 12


def test_an_average_of_heads_has_no_cell_to_explain() -> None:
    app = open_page("attention", **SMALL, attention_show="average of heads")
    assert drawn(without_error(app)) == set()
    assert not app.header


def test_a_scrambled_merge_says_where_the_value_goes() -> None:
    app = open_page("attention", **SMALL, head_merge="reshape", attention_why="what it moves", query=2)
    assert "head_merge = reshape" in prose(without_error(app))


def test_random_weights_have_no_why_but_a_way_to_trained_ones() -> None:
    app = open_page("attention", **SMALL | {"n_layers": 1}, text="abcdef", query=2)
    assert not app.header
    assert "nothing was learnt, so there is no why" in prose(app)
    app = without_error(app.button(key="open_trained").click().run())
    assert app.header[0].value.startswith("Why does")
    assert app.session_state["weights"] == "english"
    assert app.session_state["n_layers"] == 1


def test_the_panel_follows_the_query() -> None:
    app = open_page("attention", **SMALL, text="abcdef", query=2, attention_steps=True)
    assert app.header[0].value.startswith("Why does `c`₂")
    choose(app, query=4)
    assert app.header[0].value.startswith("Why does `e`₄")


@pytest.mark.parametrize(
    ("query", "key", "reason"),
    [(1, 3, "later in the sentence"), (1, 5, "This key is padding"), (5, 1, "This query is padding")],
)
def test_a_hidden_key_has_a_reason_and_no_charts(query: int, key: int, reason: str) -> None:
    def script(query: int, key: int) -> None:
        from dataclasses import replace

        import numpy as np

        from playground.charts.scene import Scene
        from playground.link.opening import Focus
        from playground.views.attention.page import attention_scene
        from playground.views.attention.why import answer_why
        from playground.web.shared.renderer import render, session_view

        scene = attention_scene(session_view("attention"))
        run = scene.now.run
        padding = np.arange(len(run.tokens)) >= 5
        allowed = np.tri(len(run.tokens), dtype=bool) & ~padding
        now = replace(scene.now, run=replace(run, padding=padding, allowed=allowed))
        hidden = Scene(now, Focus(0, 0, query, key))
        chosen = {
            "attention_hide": False,
            "attention_rival": "automatic",
            "attention_word": "",
            "attention_steps": False,
        }
        render([answer_why(hidden, chosen)[0]], hidden)

    app = AppTest.from_function(script, default_timeout=60, args=(query, key)).run()
    assert not app.exception
    assert not drawn_bars(app)
    assert reason in prose(app)


@pytest.mark.parametrize(("layer", "head", "query", "key"), [(3, 1, 10, 9), (2, 9, 8, 2), (5, 11, 10, 5)])
def test_a_key_that_lost_is_set_beside_the_key_that_won(layer: int, head: int, query: int, key: int) -> None:
    """The question, the sentence, all bars and the numbers below them are of one and the same difference."""
    won = int(trained_trace()[f"layers.{layer}.attn.scores"][0, head, query].argmax())
    place = {"layer": layer, "head": head, "query": query, "key": key, "attention_rival": won}
    app = without_error(open_page("attention", attention_steps=True, **place))
    scores = trained_trace()[f"layers.{layer}.attn.scores"][0, head, query].numpy()
    winner, rank = int(scores.argmax()), 1 + int((scores > scores[key]).sum())
    assert winner != key
    lead = float(scores[key] - scores[winner])
    tokens = trained_tokens()
    names = [f"`{tokens[place]}`{subscript(place)}" for place in (query, key, winner)]
    assert app.header[0].value == f"Why does {names[0]} not look more at {names[1]}?"
    assert f"number {rank} of its 16 keys" in prose(app)
    assert f"{-lead:.2f} below the strongest, {names[2]}" in prose(app)
    assert f"Score of {names[1]} minus score of {names[2]}" in captions(app)
    for chart in ("why_parts", *STEPS["sources"]):
        assert sum(drawn_bars(app)[chart]["values"]) == pytest.approx(lead, abs=1e-3)
    assert f"Together: {write_amount(lead, '+')}." in captions(app)
    assert f"add up to {write_amount(lead, '+')}" in captions(app)
    open_panels(app, "why_key_sources_open")
    assert table(app, "layer 0 feed-forward").to_numpy().sum() == pytest.approx(lead, abs=1e-4)
    choose(app, key=winner)
    assert "not look" not in app.header[0].value
    assert sum(drawn_bars(app)["why_parts"]["values"]) > 0


def strongest_other_word(scores: Array, query: int, key: int) -> int:
    is_word = np.array([token.isalnum() and place not in (query, key) for place, token in enumerate(trained_tokens())])
    return int(np.where(is_word, scores, -np.inf).argmax())


def test_the_rival_of_a_word_is_a_word_though_a_special_token_won() -> None:
    scores = trained_trace()["layers.3.attn.scores"][0, 1, 8].numpy()  # street looks at [CLS] most
    rival = strongest_other_word(scores, 8, 2)
    assert scores.argmax() == 0
    app = open_page("attention", query=8, key=2)
    assert sum(drawn_bars(app)["why_parts"]["values"]) == pytest.approx(scores[2] - scores[rival], abs=1e-3)
    assert f"the strongest other word: {trained_tokens()[rival]}" in app.selectbox(key="why_rival_choice").options[0]
    app = open_page("attention", query=8, key=0)  # of [CLS] itself, any key
    others = np.delete(scores, 0)
    assert sum(drawn_bars(app)["why_parts"]["values"]) == pytest.approx(scores[0] - others.max(), abs=1e-3)


def test_a_hidden_winner_is_still_the_opponent_and_that_is_said() -> None:
    app = open_page("attention", query=8, key=2, attention_rival=0)  # street looks at [CLS] most
    said = prose(app)
    assert "below the strongest, `[CLS]`₀" in said
    assert "hidden or not" not in said
    choose(app, attention_hide=True)
    assert "below the strongest, `[CLS]`₀" in prose(app)
    assert "hidden or not" in prose(app)


def test_any_key_is_the_rival_by_a_choice_or_a_link() -> None:
    scores = trained_trace()["layers.3.attn.scores"][0, 1, 10].numpy()
    app = without_error(open_page("attention", attention_rival="6"))
    assert sum(drawn_bars(app)["why_parts"]["values"]) == pytest.approx(scores[2] - scores[6], abs=1e-3)
    choose(app, why_rival_choice="mean")
    assert sum(drawn_bars(app)["why_parts"]["values"]) == pytest.approx(scores[2] - scores.mean(), abs=1e-3)
    assert app.session_state["attention_rival"] == "mean"
    choose(app, key=6, why_rival_choice="2")  # animal, the rival of cross
    assert sum(drawn_bars(app)["why_parts"]["values"]) == pytest.approx(scores[6] - scores[2], abs=1e-3)
    choose(app, text="A cat and an animal sat.")
    assert app.session_state["attention_rival"] in ("5", "automatic"), "it moves with its word"


def test_each_test_of_the_answer_is_a_link_to_what_it_says() -> None:
    text = f"Anna sleeps.\n{SENTENCE}"
    app = without_error(open_page("attention", text=text, sentence=2, query=10, key=2, attention_rival="8"))
    (shown,) = [each.value for each in app.table if "street" in str(each.value.index[0])]
    for label, before, after in zip(shown.index, *(shown.iloc[:, column] for column in (0, 1)), strict=True):
        opened = open_link(re.findall(r"\((attention\?.*)\)", label)[0])
        assert opened.page == "attention"
        assert opened.pinned is not None
        assert opened.pinned.text == ("Anna sleeps.", SENTENCE)
        assert opened.text[0] == "Anna sleeps."
        focus, rival = opened.focus, int(opened.values["attention_rival"])
        weights = opened.run.pattern(focus.layer)[focus.head, focus.query]
        for place, told in ((focus.key, before), (rival, after)):
            assert told.endswith(f"**{weights[place]:.2f}**")
    assert re.search(r"\*\*In this sentence, between .* the head follows the place", prose(app))


def test_the_code_behind_the_panel_opens() -> None:
    app = open_panels(open_page("attention", **SMALL), "attention_code")
    assert any("def split_score" in code.value for code in app.code)


COUNTS = re.compile(r"In (.*) other sentences: follows the word (\d+), the place (\d+), neither or too close (\d+)\.")


def test_ten_other_sentences_are_counted_as_plain_runs_say() -> None:
    """No gap that decides is near the threshold, which rounding to two decimals moves by at most 0.01."""
    encoder, tokenizer = checkpoint.load("minilm")
    counts = {"word": 0, "place": 0, "close": 0}
    assert len({text for text, *_ in TEN_SENTENCES}) == 10
    for text, first, second, pronoun in TEN_SENTENCES:
        leads = []
        for sentence in (text.format(first, second), text.format(second, first)):
            batch = tokenizer.encode_batch([sentence])
            tokens = list(batch.tokens[0])
            assert [tokens.count(word) for word in (first, second, pronoun)] == [1, 1, 1], tokens
            assert max(tokens.index(first), tokens.index(second)) < tokens.index(pronoun)
            row = run(encoder, batch, 0).pattern(3)[1, tokens.index(pronoun)]
            leads.append(float(row[tokens.index(first)]) - float(row[tokens.index(second)]))
        least, margin = min(map(abs, leads)), 0.01 + 10 * float(np.finfo(np.float32).eps)
        assert abs(least - 0.05) > margin, (text, leads)
        verdict = "close" if least < 0.05 else "word" if leads[0] * leads[1] > 0 else "place"
        counts[verdict] += 1

    app = without_error(open_page("attention"))
    assert not COUNTS.search(prose(app))
    without_error(app.button(key="ten_sentences").click().run())
    found = COUNTS.search(prose(app))
    assert found, prose(app)
    assert found.groups() == ("ten", *map(str, counts.values()))
    choose(app, attention_hide=True)
    assert COUNTS.search(prose(app)), "another choice leaves the answer there"
    choose(app, head=2)
    assert not COUNTS.search(prose(app)), "another head has not been asked"
    app.button(key="ten_sentences")


def test_a_sentence_whose_noun_has_several_tokens_is_left_out_and_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    (text, _, second, pronoun), *others = TEN_SENTENCES
    monkeypatch.setattr(attention, "TEN_SENTENCES", ((text, "hippopotamus", second, pronoun), *others))
    app = without_error(open_page("attention"))
    found = COUNTS.search(prose(without_error(app.button(key="ten_sentences").click().run())))
    assert found, prose(app)
    assert found[1] == "9 of ten"
    assert sum(int(found[place]) for place in (2, 3, 4)) == 9


@pytest.mark.parametrize(
    ("link", "is_there"),
    [
        ({"tokenizer": "char", "query": 9, "key": 2}, False),
        ({"tokenizer": "word"}, False),
        ({"tokenizer": "vectors"}, True),
        ({"tokenizer": "wordpiece", "query": 4, "key": 2}, True),
        ({"tokenizer": "wordpiece", "query": 4, "key": 2, "do": "0.1:zero"}, False),
    ],
    ids=["letters", "own words", "vectors", "wordpiece", "changed"],
)
def test_the_button_is_there_only_if_the_ten_sentences_can_be_asked(link: dict[str, Any], is_there: bool) -> None:
    app = without_error(
        open_page(
            "attention",
            **SMALL | {"text": "A dog saw it.", "layer": 1, "query": 3, "key": 1, "attention_steps": True} | link,
        )
    )
    assert "In this sentence, between" in prose(app), "the swap is tested"
    assert ("ten_sentences" in {button.key for button in app.button}) == is_there
    if is_there:
        found = COUNTS.search(prose(without_error(app.button(key="ten_sentences").click().run())))
        assert found, prose(app)
        assert sum(int(found[place]) for place in (2, 3, 4)) == 10
