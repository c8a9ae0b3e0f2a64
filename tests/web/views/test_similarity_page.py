"""The Similarity page: its list, what its choices do, and the trained model's numbers."""

from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from playground.analysis.sentences import POOLINGS
from playground.link import params
from playground.views.similarity import VIEWS
from playground.weights import checkpoint
from tests.web.app_test import SMALL, array, charts, choose, open_page, table, widgets, without_error, words

LIST = "A cat sat on the mat.\nThe mat had a cat on it.\nStocks fell."


def page(**query: object) -> AppTest:
    return without_error(open_page("similarity", **{"similarity_closer": True, **query}))


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


def test_the_texts_and_the_lists_sentences_are_compared_and_their_pairs_ranked() -> None:
    app = page(text="Dogs bark.\nA cat sat.", similarity_list=LIST, similarity_second=5, similarity_ranking="true")
    matrix = array(charts(app)["similarity_matrix"])
    np.testing.assert_allclose(matrix, cosines("Dogs bark.", "A cat sat.", *LIST.splitlines()), atol=1e-5)
    assert len(table(app, "in common")) == 10
    assert app.dataframe[0].proto.row_height > 64, "from which on Streamlit wraps words"
    assert params.POOLINGS == POOLINGS


def test_strangers_words_are_shown_as_they_are() -> None:
    hostile = "<script>\u202e\x1balert(1)</script> **x** $y$ [z](w) `c`\n:material/home: | a\\b"
    app = page(text=hostile, similarity_list=hostile, similarity_second=3, similarity_ranking="true")
    assert r"\<script\>  alert\(1\)\</script\> \*\*x\*\* \$y\$ \[z\]" in words(app)
    assert table(app, "in common")["first"][0].startswith("1 · <script>  alert(1)</script> **x** $y$ [")
    assert "<script>" not in str(charts(app)["similarity_matrix"][0]["y"])


def test_what_cannot_be_compared_is_one_sentence_and_the_list_stays() -> None:
    deep = open_page("similarity", **SMALL | {"norm": "none", "n_layers": 96, "d_model": 64}, text="one\ntwo")
    large = open_page("similarity", weights="random", n_layers=96, d_model=4096, n_heads=32, text="one\ntwo")
    for app in (deep, large):
        assert len(app.error) == 1
        assert not charts(app)
        assert "similarity_list" in widgets(app)


def test_links_open_the_panel_of_a_pooling_and_the_nearest_to_a_view_that_is_gone() -> None:
    app = page(similarity_list=LIST, similarity_pooling="first token", similarity_view="map by depth")
    assert app.session_state["similarity_how"]
    assert "similarity_tokens" in charts(app)


@pytest.mark.sweep
@pytest.mark.parametrize(
    "query",
    [
        {**SMALL, "text": "x\nx\nx", "similarity_first": 3, "similarity_second": 3},
        {**SMALL, "tokenizer": "vectors", "text": "one two"},
        {**SMALL, "tokenizer": "word", "d_model": 15, "n_heads": 1, "norm": "scalar", "text": "one\ntwo, three"},
        {**SMALL, "tokenizer": "bpe", "vocab_size": 300, "max_len": 5, "text": "hello world\nhello"},
        {**SMALL, "norm_placement": "pre", "final_norm": True, "n_layers": 1, "causal": True},
        {"text": "\u200b\né\u0301 ﷽ [MASK] 🙂 שלום 漢字"},
    ],
    ids=["equal", "vectors", "words", "short", "final norm", "scripts"],
)
def test_every_view_opens_on_odd_sentences_and_architectures(query: dict[str, Any]) -> None:
    app = page(**query)
    for view in VIEWS:
        without_error(choose(app, similarity_view=view))
        assert "nan" not in words(app).lower().split()
