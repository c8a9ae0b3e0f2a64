"""The Similarity page, its numbers against ones computed here."""

from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from playground.analysis.sentences import POOLINGS
from playground.limits import MAX_LISTED, MAX_LISTED_TOKENS
from playground.link import params
from playground.link.params import DEFAULT_TEXT
from playground.runs import variant_runs
from playground.views.similarity.page import VIEWS
from playground.views.similarity.sentences import EXAMPLE
from playground.weights import checkpoint
from tests.training.trained import trained
from tests.web.app_test import (
    SMALL,
    answer,
    array,
    captions,
    charts,
    choose,
    component_data,
    open_page,
    open_panels,
    press,
    prose,
    sentences,
    table,
    values,
    widgets,
    without_error,
    words,
)  # fmt: skip
from tests.web.sidebar.test_trained_panel import KINDS, opened

LIST = "A cat sat on the mat.\nThe mat had a cat on it.\nStocks fell."


def page(**query: object) -> AppTest:
    return without_error(open_page("similarity", **query))


def matrix(app: AppTest) -> np.ndarray:
    return array(charts(app)["similarity_matrix"])


def cosines(*texts: str) -> np.ndarray:
    """Of the means of what the trained model makes of texts, (N, N), without the app."""
    encoder, tokenizer = checkpoint.load("minilm")
    batch = tokenizer.encode_batch(list(texts))
    with torch.inference_mode():
        vectors = encoder(batch.ids, batch.mask).double()
    pooled = (vectors * batch.mask[..., None]).sum(dim=1)
    unit = torch.nn.functional.normalize(pooled, dim=-1).numpy()
    result: np.ndarray = unit @ unit.T
    return result


def test_a_single_sentence_stands_beside_an_example_that_one_button_puts_into_the_field() -> None:
    app, expected = page(), cosines(DEFAULT_TEXT, *EXAMPLE)
    np.testing.assert_allclose(matrix(app), expected, atol=1e-5)
    assert expected[0, 1] > expected[0, 2] > 0.7, "the opposite in the same words is nearer than the same in others"
    assert expected[3, 4] > 0.75, "a negation"
    assert expected[3, 5] > 0.7, "other words"
    assert expected[6, 7] > 0.95, "another order"
    assert np.abs(expected[:8, 8]).max() < 0.2, "another topic"
    assert values(app, "similarity_list") == {"similarity_list": ""}
    app = press(app, "similarity_fill")
    assert values(app, "similarity_list") == {"similarity_list": "\n".join(EXAMPLE)}
    np.testing.assert_allclose(matrix(app), expected, atol=1e-5)
    assert "similarity_fill" not in {button.key for button in app.button}


def test_the_example_does_not_take_the_place_of_what_was_typed_just_before() -> None:
    app = page()
    app.text_area(key="similarity_list").set_value("Cats sleep.")
    assert values(press(app, "similarity_fill"), "similarity_list") == {"similarity_list": "Cats sleep."}


def test_the_texts_and_the_lists_sentences_are_compared_and_their_pairs_ranked() -> None:
    query = {"text": "Dogs bark.\nA cat sat.", "similarity_list": LIST, "similarity_second": 5}
    app = page(**query, similarity_ranking="true")
    expected = cosines("Dogs bark.", "A cat sat.", *LIST.splitlines())
    np.testing.assert_allclose(matrix(app), expected, atol=1e-5)
    ranked = sorted(expected[np.triu_indices(5, 1)], reverse=True)
    np.testing.assert_allclose(table(app, "in common")["cosine"], ranked, atol=1e-5)
    assert f"**{expected[0, 4]:.3f}**" in words(app)
    assert app.dataframe[0].proto.row_height > 64, "from which on Streamlit wraps words"
    assert params.POOLINGS == POOLINGS


def test_the_frame_stands_at_the_chosen_pair_or_the_nearest() -> None:
    app = page(similarity_list=LIST)
    frame = component_data(app, "cell_frame")
    assert (frame["selected"], frame["rows"], frame["columns"]) == ([0, 1], [0, 3], [0, 3])
    choose(app, similarity_first_choice=3, similarity_second_choice=2)
    assert component_data(app, "cell_frame")["selected"] == [2, 1]
    shrunk = choose(app, similarity_list="one more")
    assert component_data(shrunk, "cell_frame")["selected"] == [0, 1], "two sentences, as before"
    assert values(shrunk, "similarity_first", "similarity_second") == {"similarity_first": 1, "similarity_second": 2}
    assert "compared with itself" not in words(shrunk)
    assert "compared with itself" in words(choose(shrunk, similarity_first_choice=2))


def chosen(app: AppTest) -> tuple[int, int]:
    first, second = component_data(app, "cell_frame")["selected"]
    return first + 1, second + 1


def closest(app: AppTest) -> tuple[int, int]:
    first, second = np.unravel_index(np.triu(matrix(app), 1).argmax(), matrix(app).shape)
    return int(first) + 1, int(second) + 1


def test_a_chosen_pair_stays_the_same_sentences_and_makes_way_for_the_closest_pair_where_one_is_gone() -> None:
    app = page(similarity_list=LIST)
    choose(app, similarity_first_choice=4, similarity_second_choice=1)
    assert chosen(choose(app, similarity_list=f"Dogs bark.\n{LIST}")) == (5, 1), "moved along"
    assert chosen(choose(app, similarity_list="Stocks fell.\nDogs bark.")) == (2, 1)
    gone = choose(app, similarity_list="Dogs bark.\nThe film was good.\nThe film was bad.")
    assert chosen(gone) == closest(gone) == (3, 4)


@pytest.mark.parametrize(
    ("query", "edit"),
    [
        ({}, {"text": DEFAULT_TEXT.replace("street", "road")}),
        ({"similarity_second": 3}, {"text": DEFAULT_TEXT.replace("street", "road")}),
        (
            {"similarity_list": LIST, "similarity_first": 2, "similarity_second": 4},
            {"similarity_list": LIST.replace("fell.", "fell!")},
        ),
        ({"text": "Dogs bark.\nCats sleep.", "similarity_first": 2, "similarity_second": 1}, {"text": "Dogs.\nCats."}),
    ],
    ids=["the example's", "a link's", "of the list", "of two"],
)
def test_a_pair_stays_where_a_word_of_it_is_corrected(query: dict[str, Any], edit: dict[str, str]) -> None:
    app = page(**query)
    pair = chosen(app)
    assert pair != closest(app), "else nothing is tested"
    assert chosen(choose(app, **edit)) == pair


@pytest.mark.parametrize(
    "other",
    [
        {"similarity_list": "The mat had a cat on it.\nStocks fell.\nThe mat had a cat."},
        {"similarity_list": "Dogs bark.\nThe film was good.\nThe film was bad."},
        {"text": "Dogs bark.", "similarity_list": "Cats sleep.\nThe film was good.\nThe film was bad."},
    ],
    ids=["a line was removed", "a new list", "all is new"],
)
def test_the_closest_pair_is_chosen_where_a_list_as_long_has_other_sentences(other: dict[str, str]) -> None:
    app = choose(page(similarity_list=LIST), **other)
    assert chosen(app) == closest(app) != (1, 2)


def test_a_pair_that_comes_together_with_another_text_is_that_texts() -> None:
    app = page(text="Dogs bark.", similarity_list=LIST)
    assert chosen(app) == (1, 2)
    reset = press(app, "reset")
    assert closest(reset) != (1, 2)
    assert chosen(reset) == (1, 2)


def test_the_lists_name_the_sentences_and_one_press_chooses_the_closest_pair() -> None:
    app = page(similarity_list=LIST)
    (first,) = (each for each in app.selectbox if each.key == "similarity_first_choice")
    assert [option.split(" · ")[0] for option in first.options] == ["1", "2", "3", "4"]
    upper = np.triu(matrix(app), 1)
    closest = [int(place) for place in np.unravel_index(upper.argmax(), upper.shape)]
    assert closest != [0, 1]
    press(app, "similarity_closest")
    assert component_data(app, "cell_frame")["selected"] == closest
    assert values(app, "similarity_first", "similarity_second") == {
        "similarity_first": closest[0] + 1,
        "similarity_second": closest[1] + 1,
    }
    assert "similarity_closest" not in {button.key for button in app.button}


def test_a_link_to_a_sentence_behind_the_last_opens_at_the_last_and_says_so() -> None:
    app = page(similarity_list=LIST, similarity_second=30)
    assert "similarity_second=30 is moved to the last, 4" in sentences(app)
    assert values(app, "similarity_second") == {"similarity_second": 4}


def test_the_same_words_in_another_order_are_not_the_same_meaning() -> None:
    told = "a high cosine does not say that they mean the same"
    reordered = open_page("similarity", text="The dog bit the man.\nThe man bit the dog.\nIt rains.")
    assert told in answer(reordered)
    for other in ("The dog bit a man.", "The dog bit the man!"):
        assert told not in answer(choose(reordered, text=f"The dog bit the man.\n{other}\nIt rains."))


@pytest.mark.parametrize("task", KINDS)
def test_networks_trained_here_compare_what_they_can_read(task: str) -> None:
    app = without_error(opened(trained(task), "similarity"))
    app = open_panels(app, "similarity_how")
    assert "never to compare sentences" in prose(app)


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({"similarity_list": "one two\n" * 60}, f"list has 60 sentences; only the first {MAX_LISTED - 1} are used"),
        ({"text": "a\n" * 8, "similarity_list": "b\n" * MAX_LISTED}, f"only the first {MAX_LISTED - 8} are used"),
        ({"similarity_list": "many words " * 150}, f"Sentence 2 is cut after {MAX_LISTED_TOKENS} tokens"),
        ({"similarity_list": "x" * 2_500}, "only the first 2,000 are kept"),
    ],
)
def test_each_limit_is_said_in_one_sentence(query: dict[str, Any], told: str) -> None:
    app = page(**query)
    assert sentences(app).count("only the first") + sentences(app).count("is cut") == 1
    assert told in sentences(app)
    assert len(matrix(app)) <= MAX_LISTED


def test_what_is_too_much_work_is_left_out_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(variant_runs, "MAX_WORK", 10**9)
    app = page(similarity_list=LIST + "\nMore of this sentence")
    assert "are too much for this server" in sentences(app)
    assert f"the first {len(matrix(app))} are compared" in sentences(app)
    assert 1 < len(matrix(app)) < 5


def test_strangers_words_are_shown_as_they_are() -> None:
    hostile = "<script>\u202e\x1balert(1)</script> **x** $y$ [z](w) `c`\n:material/home: | a\\b"
    app = page(text=hostile, similarity_list=hostile, similarity_second=3, similarity_ranking="true")
    assert "Control characters were replaced" in sentences(app)
    assert r"\<script\>  alert\(1\)\</script\> \*\*x\*\* \$y\$ \[z\]\(w\)" in prose(app)
    assert table(app, "in common")["first"][0] == "1 · <script>  alert(1)</script> **x** $y$ […"
    assert "<script>" not in str(charts(app)["similarity_matrix"][0]["y"])


def test_numbers_out_of_range_are_said_and_a_model_too_large_is_refused() -> None:
    deep = page(**SMALL | {"norm": "none", "n_layers": 96, "d_model": 64}, text="one\ntwo")
    assert "**Overflow**" in sentences(deep)
    assert not charts(deep)
    large = open_page("similarity", weights="random", n_layers=96, d_model=4096, n_heads=32, text="one\ntwo")
    (error,) = large.error
    assert "at most" in error.value
    assert not charts(large)


@pytest.mark.long
def test_changes_are_made_in_every_sentence_that_can_have_them() -> None:
    plain, text = matrix(page(similarity_list=LIST)), {"similarity_list": LIST}
    off = page(**text, do="-2.*:off")
    np.testing.assert_array_equal(matrix(off), plain)
    app = page(**text, do="2.*:zero,0.*:cut_12_0", similarity_view="leave a word out")
    assert np.abs(matrix(app) - plain).max() > 1e-3
    assert "is made in every sentence" in captions(app)
    assert "is made in your text's chosen sentence alone" in captions(app)
    assert "Without them, the cosine is" in captions(app)
    assert "without these changes" not in captions(app)


def test_a_link_to_a_pooling_opens_the_panel_that_explains_it() -> None:
    app, closed = page(similarity_list=LIST, similarity_pooling="first token"), page(similarity_list=LIST)
    assert "How to read this" in prose(app)
    assert "How to read this" not in prose(closed)
    assert app.session_state["similarity_how"]


def test_tables_and_code_open() -> None:
    app = page(similarity_list=LIST)
    before = len(app.dataframe)
    tables = ["similarity_matrix", "similarity_tokens", "similarity_tokens_first", "similarity_tokens_second"]
    open_panels(app, *(f"{name}_open" for name in tables), "similarity_code")
    assert len(app.dataframe) == before + len(tables)
    assert any("def token_contributions" in code.value for code in app.code)
    assert {"similarity_list", "similarity_pooling", "similarity_view"} <= widgets(app).keys()


@pytest.mark.sweep
@pytest.mark.parametrize(
    "query",
    [
        {**SMALL, "text": "x\nx\nx", "similarity_first": 3, "similarity_second": 3},
        {**SMALL, "text": "", "similarity_list": "one\ntwo"},
        {**SMALL, "tokenizer": "vectors", "text": "one two"},
        {**SMALL, "tokenizer": "word", "d_model": 15, "n_heads": 1, "norm": "scalar", "text": "one\ntwo, three"},
        {**SMALL, "tokenizer": "bpe", "vocab_size": 300, "max_len": 5, "text": "hello world\nhello"},
        {**SMALL, "norm_placement": "pre", "final_norm": True, "n_layers": 1, "causal": True, "similarity_depth": 50},
        {"text": "\u200b\né\u0301 ﷽ [MASK] 🙂 שלום 漢字"},
    ],
    ids=["equal", "list alone", "vectors", "words", "short", "final norm", "scripts"],
)
def test_every_view_opens_on_odd_sentences_and_architectures(query: dict[str, Any]) -> None:
    app = page(**query)
    for view in VIEWS:
        without_error(choose(app, similarity_view=view))
        assert "nan" not in words(app).split()
