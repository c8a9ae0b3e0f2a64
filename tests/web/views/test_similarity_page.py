"""The Similarity page, its numbers against ones computed here."""

from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from playground import Encoder, ModelConfig
from playground.analysis.vector_changes import POOLINGS
from playground.limits import MAX_LISTED, MAX_LISTED_TOKENS
from playground.link import params
from playground.link.params import DEFAULT_TEXT
from playground.runs import variant_runs
from playground.text import characters
from playground.web.views.similarity.sentence_list import EXAMPLE
from playground.weights.checkpoint import load
from tests.training.after.trained import trained
from tests.web.app_test import (
    SMALL,
    SMALL_CONFIG,
    array,
    captions,
    charts,
    choose,
    component_data,
    drawn_bars,
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


def cosines(vectors: np.ndarray) -> np.ndarray:
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    result: np.ndarray = unit @ unit.T
    return result


def final_vectors(*texts: str) -> tuple[np.ndarray, np.ndarray]:
    """What the trained model makes of texts, (N, T, D), and their masks (N, T), without the app."""
    encoder, tokenizer = load("minilm")
    batch = tokenizer.encode_batch(list(texts))
    with torch.inference_mode():
        return encoder(batch.ids, batch.mask).numpy().astype(np.float64), batch.mask.numpy()


def matrix(app: AppTest) -> np.ndarray:
    return array(charts(app)["similarity_matrix"])


def pool(pooling: str, vectors: np.ndarray, mask: np.ndarray) -> np.ndarray:
    counted = {"mean": mask, "mean with padding": np.ones_like(mask), "first token": np.arange(mask.shape[1]) == 0}
    weights = np.broadcast_to(counted[pooling], mask.shape)[..., None]
    result: np.ndarray = (vectors * weights).sum(axis=1) / weights.sum(axis=1)
    return result


def test_a_single_sentence_stands_beside_an_example_that_one_button_puts_into_the_field() -> None:
    app = page()
    expected = cosines(pool("mean", *final_vectors(DEFAULT_TEXT, *EXAMPLE)))
    np.testing.assert_allclose(matrix(app), expected, atol=1e-5)
    assert values(app, "similarity_list") == {"similarity_list": ""}
    app = press(app, "similarity_fill")
    assert values(app, "similarity_list") == {"similarity_list": "\n".join(EXAMPLE)}
    np.testing.assert_allclose(matrix(app), expected, atol=1e-5)
    assert "similarity_fill" not in {button.key for button in app.button}


def test_the_example_shows_what_the_page_says_of_negations_and_order() -> None:
    similarity = cosines(pool("mean", *final_vectors(DEFAULT_TEXT, *EXAMPLE)))
    assert similarity[0, 1] > similarity[0, 2] > 0.7, "the opposite in the same words is nearer than the same in others"
    assert similarity[3, 4] > 0.75, "a negation"
    assert similarity[3, 5] > 0.7, "other words"
    assert similarity[6, 7] > 0.95, "another order"
    assert np.abs(similarity[:8, 8]).max() < 0.2, "another topic"
    said = prose(page())
    for one, other in ((3, 4), (3, 5), (6, 7)):
        assert f"{similarity[one, other]:.2f}" in said


@pytest.mark.parametrize("pooling", ["mean", "first token", "mean with padding"])
def test_the_texts_and_the_lists_sentences_are_compared_and_their_pairs_ranked(pooling: str) -> None:
    app = page(text="Dogs bark.\nA cat sat.", similarity_list=LIST, similarity_pooling=pooling, similarity_second=5)
    vectors, mask = final_vectors("Dogs bark.", "A cat sat.", *LIST.splitlines())
    expected = cosines(pool(pooling, vectors, mask))
    np.testing.assert_allclose(matrix(app), expected, atol=1e-5)
    pairs = table(app, "in common")
    ranked = sorted(expected[np.triu_indices(5, 1)], reverse=True)
    np.testing.assert_allclose(pairs["cosine"], ranked, atol=1e-5)
    best = np.unravel_index(np.triu(expected, 1).argmax(), expected.shape)
    assert pairs["first"][0].startswith(f"{best[0] + 1} · ")
    assert f"**{expected[0, 4]:.3f}**" in words(app)
    if pooling == "mean with padding":
        mean = cosines(pool("mean", vectors, mask))[0, 4]
        assert f"{expected[0, 4]:.3f} instead of {mean:.3f}" in words(app)
        assert f"sentence 1 has {int((~mask[0]).sum())}" in words(app)
    elif pooling == "first token":
        apart = expected[np.triu_indices(5, 1)]
        assert f"from {apart.min():.2f} to {apart.max():.2f}" in words(app)


@pytest.mark.parametrize("pooling", ["mean", "first token", "mean with padding"])
def test_the_parts_of_tokens_add_up_to_the_cosine(pooling: str) -> None:
    app = page(similarity_list=LIST, similarity_first=2, similarity_second=3, similarity_pooling=pooling)
    parts, cosine = array(charts(app)["similarity_tokens"]), matrix(app)[1, 2]
    assert parts.sum() == pytest.approx(cosine, abs=1e-5)
    for name in ("first", "second"):
        bars = drawn_bars(app)[f"similarity_tokens_{name}"]
        assert sum(bars["values"]) == pytest.approx(cosine, abs=1e-3)
    labels = list(charts(app)["similarity_tokens"][0]["y"])
    assert ("[PAD]" in " ".join(labels)) == (pooling == "mean with padding")
    assert (parts.shape == (1, 1)) == (pooling == "first token")


def test_words_are_left_out_one_by_one_and_a_sentence_of_one_word_is_not() -> None:
    app = page(text="The film was not good.\nThe film was good.\nSnow", similarity_view="leave a word out")
    vectors, mask = final_vectors("The film was not good.", "The film was good.", "film was not good.",
                                  "The film was good.", "The film not good.")  # fmt: skip
    pooled = cosines(pool("mean", vectors, mask))
    changes = drawn_bars(app)["similarity_left_out_first"]
    assert changes["labels"] == ["The₁", "film₂", "was₃", "not₄", "good₅", ".₆"]
    for word, row in ((0, 2), (2, 4), (3, 3)):
        assert changes["values"][word] == pytest.approx(pooled[row, 1] - pooled[0, 1], abs=2e-5)
    assert pooled[3, 1] == pytest.approx(1)
    assert "rises the most without `not`" in captions(app)
    assert "only one word" in sentences(choose(app, similarity_second=3))
    assert set(drawn_bars(app)) == {"similarity_left_out_first"}


def test_a_mark_at_a_words_start_is_a_word_too_and_the_page_says_so() -> None:
    app = page(text="“Snow” fell.\nSnow fell.", similarity_view="leave a word out")
    assert drawn_bars(app)["similarity_left_out_first"]["labels"] == ["“₁", "Snow₂", "”₃", "fell₄", ".₅"]
    assert "each punctuation mark at its start or end is its own word" in captions(app)


def test_the_map_keeps_its_axes_while_the_depth_moves() -> None:
    app = page(similarity_list=LIST, similarity_view="map by depth")
    dots = [charts(choose(app, similarity_depth=depth))["similarity_map"][-1] for depth in (0, 3, 6)]
    points = [np.stack([array([each], 0, axis) for axis in "xy"]) for each in dots]
    ways = charts(app)["similarity_map"][:2]
    for number, way in enumerate(ways):
        drawn = np.stack([array([way], 0, axis) for axis in "xy"])
        for place, depth in enumerate((0, 3, 6)):
            np.testing.assert_allclose(drawn[:, depth], points[place][:, number], rtol=1e-6)
    assert "after block 6 of 6" in captions(app)
    choose(app, similarity_pooling="first token", similarity_depth=0)  # [CLS] is the same row of the table everywhere
    assert "they lie on one point" in captions(app)
    assert "not seen" not in captions(app)
    assert "at least 3 sentences" in sentences(page(text="a\nb", similarity_view="map by depth"))


def test_a_click_and_a_row_choose_a_pair_and_junk_chooses_none() -> None:
    app = page(similarity_list=LIST)
    frame = component_data(app, "cell_frame")
    assert (frame["selected"], frame["rows"], frame["columns"]) == ([0, 1], [0, 3], [0, 3])
    choose(app, similarity_first=3, similarity_second=2)
    assert component_data(app, "cell_frame")["selected"] == [2, 1]
    shrunk = choose(app, similarity_list="one more")
    assert component_data(shrunk, "cell_frame")["selected"] == [1, 1]
    assert values(shrunk, "similarity_first", "similarity_second") == {"similarity_first": 2, "similarity_second": 2}
    assert "compared with itself" in words(shrunk)


def test_random_weights_are_called_random_and_causal_first_tokens_see_nothing_else() -> None:
    app = page(**SMALL, text="abc\nabd\nxyz", causal=True, similarity_pooling="first token")
    encoder = Encoder(ModelConfig(**SMALL_CONFIG), seed=0)
    batch = characters().encode_batch(["abc", "abd", "xyz"])
    with torch.inference_mode():
        first = encoder(batch.ids, torch.ones(1, 3, 3).tril().bool()).numpy()[:, 0].astype(np.float64)
    np.testing.assert_allclose(matrix(app), cosines(first), atol=1e-5)
    assert matrix(app)[0, 1] == pytest.approx(1)
    assert "**These weights are random**" in prose(app)
    assert "random weights" in captions(app)
    assert "was made for this" not in prose(app)
    told = "sees no other token"
    assert told in prose(app)
    mixed = page(**SMALL, text="abc\nabd", causal=True, similarity_pooling="first token", head_merge="reshape")
    assert told not in prose(mixed), "the reshape merge mixes tokens all the same"
    assert matrix(mixed)[0, 1] < 0.9999


@pytest.mark.parametrize("task", KINDS)
def test_networks_trained_here_compare_what_they_can_read(task: str) -> None:
    app = without_error(opened(trained(task), "similarity"))
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
    hostile = "<script>alert(1)</script> **x** $y$ [z](w) \u202e\x1b `c`\n:material/home: | a\\b"
    app = page(text=hostile, similarity_list=hostile, similarity_second=3)
    assert "Control characters were replaced" in sentences(app)
    assert r"\<script\>alert\(1\)\</script\> \*\*x\*\* \$y\$ \[z\]\(w\)" in prose(app)
    assert hostile.splitlines()[0].replace("\u202e", " ").replace("\x1b", " ") in str(
        list(table(app, "in common")["first"])
    )
    assert "<script>" not in str(charts(app)["similarity_matrix"][0]["y"])


def test_numbers_out_of_range_are_said_and_a_model_too_large_is_refused() -> None:
    deep = page(**SMALL | {"norm": "none", "n_layers": 96, "d_model": 64}, text="one\ntwo")
    assert "**Overflow**" in sentences(deep)
    assert not charts(deep)
    large = open_page("similarity", weights="random", n_layers=96, d_model=4096, n_heads=32, text="one\ntwo")
    (error,) = large.error
    assert "at most" in error.value
    assert not charts(large)


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


def test_every_pooling_is_a_choice() -> None:
    assert params.POOLINGS == POOLINGS


def test_tables_and_code_open() -> None:
    app = page(similarity_list=LIST)
    before = len(app.dataframe)
    tables = ["similarity_matrix", "similarity_tokens", "similarity_tokens_first", "similarity_tokens_second"]
    open_panels(app, *(f"{name}_open" for name in tables), "similarity_code")
    assert len(app.dataframe) == before + len(tables)
    assert any("def token_contributions" in code.value for code in app.code)
    assert {"similarity_list", "similarity_pooling", "similarity_view"} <= widgets(app).keys()


@pytest.mark.parametrize("view", ["token by token", "leave a word out", "map by depth"])
@pytest.mark.parametrize(
    "query",
    [
        {**SMALL, "text": "x"},
        {**SMALL, "text": "x\nx\nx", "similarity_first": 3, "similarity_second": 3},
        {**SMALL, "text": "", "similarity_list": "one\ntwo"},
        {**SMALL, "tokenizer": "vectors", "text": "one two"},
        {**SMALL, "tokenizer": "word", "d_model": 15, "n_heads": 1, "norm": "scalar", "text": "one\ntwo, three"},
        {**SMALL, "tokenizer": "bpe", "vocab_size": 300, "max_len": 5, "text": "hello world\nhello"},
        {**SMALL, "norm_placement": "pre", "final_norm": True, "n_layers": 1, "causal": True, "similarity_depth": 50},
        {"text": "\u200b\né\u0301 ﷽ [MASK] 🙂 שלום 漢字"},
    ],
    ids=["one token", "equal", "list alone", "vectors", "words", "short", "final norm", "scripts"],
)
def test_every_view_opens_on_odd_sentences_and_architectures(query: dict[str, Any], view: str) -> None:
    app = page(**query, similarity_view=view)
    assert "nan" not in words(app).split()
    for pooling in ("first token", "mean with padding"):
        without_error(choose(app, similarity_pooling=pooling))
        assert "nan" not in words(app).split()


def test_of_two_sentences_none_is_the_most_similar_pair() -> None:
    two, three = (captions(page(text=text)) for text in ("a cat\na dog", "a cat\na dog\ntwo cats"))
    assert ("Sentences 1 and 2 are at" in two, "most similar" in two) == (True, False)
    assert ("Sentences 1 and 2 are at" in three, "most similar" in three) == (False, True)
