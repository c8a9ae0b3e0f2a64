"""The panel beside the map: a rival by a menu or a link, the test by other sentences, and ways to other states."""

import re
from typing import Any

import numpy as np
import pytest

from playground.analysis.counterfactuals import TEN_SENTENCES
from playground.link import open_link
from playground.runs.encoder_run import run
from playground.weights import checkpoint
from tests.web.app_test import SMALL, choose, drawn_bars, open_page, open_panels, prose, trained_trace, without_error

SENTENCE = "The animal didn't cross the street because it was too tired."


@pytest.mark.sweep
@pytest.mark.parametrize(
    "changes",
    [
        {"norm_placement": "pre", "final_norm": True, "causal": True, "layer": 1},
        {"norm": "scalar", "fused_qkv": True, "head_merge": "reshape", "layer": 1},
        {"norm": "none", "positions": "none", "residual": False, "n_segments": 0, "layer": 1},
        {"tokenizer": "vectors", "positions": "sinusoidal-doubled"},
        {"norm": "none", "n_layers": 96, "d_model": 64, "layer": 95},
        {"text": "a"},
    ],
    ids=["pre-norm", "reshape", "bare", "vectors", "overflow", "one token"],
)
@pytest.mark.parametrize("step", ["sources", "competition", "products", "what it moves"])
def test_every_step_opens_in_every_architecture(changes: dict[str, Any], step: str) -> None:
    without_error(open_page("attention", **SMALL | {"text": "a cat <b>sat</b>", "attention_why": step} | changes))


def test_random_weights_have_no_why_but_a_way_to_trained_ones() -> None:
    app = open_page("attention", **SMALL | {"n_layers": 1}, text="abcdef", query=2)
    assert not app.header
    app = without_error(app.button(key="open_trained").click().run())
    assert app.header[0].value.startswith("Why does")
    assert app.session_state["weights"] == "english"
    assert app.session_state["n_layers"] == 1


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
    assert "follows the place" in prose(app)


def test_the_code_behind_the_panel_opens() -> None:
    app = open_panels(open_page("attention", **SMALL), "attention_code")
    assert any("def split_score" in code.value for code in app.code)


COUNTS = re.compile(r"In (\d+) other sentences .* the word (\d+) times, the place (\d+) times; (\d+) are")


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

    app = without_error(open_page("attention", attention_steps=True))
    assert not COUNTS.search(prose(app))
    without_error(app.button(key="ten_sentences").click().run())
    found = COUNTS.search(prose(app))
    assert found, prose(app)
    assert found.groups() == ("10", *map(str, counts.values()))
    choose(app, attention_hide=True)
    assert COUNTS.search(prose(app)), "another choice leaves the answer there"
    choose(app, head=2)
    assert not COUNTS.search(prose(app)), "another head has not been asked"
    app.button(key="ten_sentences")
