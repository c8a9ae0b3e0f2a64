"""The encoder–decoder page draws the very masks, weights and next words of the pair that the link names."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest

from playground import EncoderDecoder, ModelConfig
from playground.accounting import count_encoder_decoder
from playground.figures.theme import token_labels
from playground.link.params import DEFAULT_TARGET
from playground.runs.pair_run import PairRun, run_pair
from playground.text import characters
from tests.web import app_test
from tests.web.app_test import SMALL_CONFIG, array, captions, charts, choose, open_page, sentences, table, without_error

SMALL = {**app_test.SMALL, "n_layers": "3", "seed": "7"}
TEXT, TARGET = "a cat sat\na <b>rather</b> longer cat", "een kat\neen <i>kat</i> zat"
VOCABULARY = characters().vocab_size


def page(**query: object) -> AppTest:
    """The page under a link, with a small model and two pairs of sentences."""
    return without_error(open_page("encoder_decoder", **SMALL | {"text": TEXT, "encdec_target": TARGET} | query))


def computed(sentence: int = 0, line: int | None = None, *, target: str = TARGET, **changes: Any) -> PairRun:
    """The run behind `page`, made without the app."""
    config = ModelConfig(**SMALL_CONFIG | {"n_layers": 3} | changes)
    sources, targets = (characters().encode_batch(text.split("\n")) for text in (TEXT, target))
    model = EncoderDecoder(config, VOCABULARY, 7)
    return run_pair(model, sources, targets, sentence, sentence if line is None else line)


def seen(run: PairRun, attention: str, layer: int, head: int) -> NDArray[np.float32]:
    """A pattern as it is shown: nothing where nobody may look, and nothing of what padding asks."""
    shown = run.allowed(attention) & ~run.sides(attention)[0].padding[:, None]
    return np.where(shown, run.patterns[attention][layer, head], np.float32(np.nan))


@pytest.mark.parametrize("sentence", [0, 1])
def test_the_pictures_are_the_masks_and_the_chosen_head_of_each_attention(sentence: int) -> None:
    run = computed(sentence)
    app = page(encdec_layer=2, encdec_head=3, sentence=sentence + 1)
    assert sentences(app) == ""
    for name in ("source padding", "target padding", "no peek", "combined"):
        np.testing.assert_array_equal(array(charts(app)[f"encdec_mask_{name.replace(' ', '_')}"]), run.masks[name])
    n_padding = int(run.target.padding.sum())
    assert (
        ("Tutorial E" in captions(app)) == (f"padded queries, {n_padding} of them" in captions(app)) == (n_padding > 0)
    )
    for attention in ("encoder self", "decoder self", "cross"):
        (trace,) = traces = charts(choose(app, encdec_attention=attention))["encdec_pattern"]
        np.testing.assert_array_equal(array(traces), seen(run, attention, 2, 3))
        queries, keys = run.sides(attention)
        assert (trace["y"], trace["x"]) == (token_labels(queries.tokens), token_labels(keys.tokens))
        weights, last = run.patterns[attention][2, 3], queries.n_real - 1
        n_choices = run.allowed(attention)[last].sum()
        assert f"may look at {n_choices} keys. Spread evenly, each would get {1 / n_choices:.3f}" in captions(app)
        assert f"largest weight is {weights[last].max():.3f}" in captions(app)


def test_the_table_is_the_softmax_of_the_logits_best_first() -> None:
    run, app = computed(), page()
    assert ":orange-badge[untrained: random weights]" in captions(app)
    for position in (0, 3, 6):
        choose(app, encdec_position=position)
        shown, probabilities = table(app, "next token"), run.next_words(position)
        best = np.argsort(-probabilities, kind="stable")[:10]
        assert list(shown.index) == list(range(1, 11))
        assert list(shown["next token"]) == [characters().id_to_token(int(word)) for word in best]
        np.testing.assert_allclose(shown["probability, %"], 100 * probabilities[best], rtol=1e-6)
        np.testing.assert_array_equal(shown["logit"], run.logits[position, best])
        np.testing.assert_allclose(shown["times an even guess"], VOCABULARY * probabilities[best], rtol=1e-6)
        so_far, *goes_on = [text.value for text in app.text]
        assert so_far == f"So far: {' '.join(run.target.tokens[: position + 1])}"
        if position == 6:
            assert not goes_on
        else:
            word = run.target.ids[position + 1]
            place = 1 + int((probabilities > probabilities[word]).sum())
            assert goes_on == [f"Your target goes on with: {run.target.tokens[position + 1]}"]
            assert f"has {100 * probabilities[word]:.3g} %, place {place}." in captions(app)


def test_a_vocabulary_of_few_words_has_a_short_table() -> None:
    shown = table(page(tokenizer="word", encdec_target="een kat zat"), "next token")
    assert sorted(shown["next token"]) == ["een", "kat", "zat"]
    assert shown["probability, %"].sum() == pytest.approx(100)


def test_parameters_of_both_halves_add_up_to_the_model() -> None:
    app = page(norm="rms", positions="learned")
    config = computed(norm="rms", positions="learned").config
    shown = table(app, "together")
    model = EncoderDecoder(config, VOCABULARY, seed=None)
    halves = [sum(p.numel() for p in half.parameters()) for half in (model.encoder, model.decoder, model.fc)]
    assert list(shown.loc["total"]) == [*halves, sum(halves)]
    assert (shown.drop("total").sum() == shown.loc["total"]).all()
    assert list(shown.loc["cross-attention"]) == [0, 3 * 4 * (16 * 16 + 16), 0, 3 * 4 * (16 * 16 + 16)]
    assert f"formulas: {sum(halves):,} = the model's `numel()`" in captions(app)
    assert f"Decoder less encoder is {halves[1] - halves[0]:,}." in captions(app)


def test_a_count_that_disagrees_with_the_model_is_confessed(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(config: ModelConfig, tgt_vocab_size: int) -> Any:
        return count_encoder_decoder(ModelConfig(**{**vars(config), "d_ff": 64}), tgt_vocab_size)

    monkeypatch.setattr("playground.web.views.encoder_decoder.pair_parameters.count_encoder_decoder", wrong)
    app = open_page("encoder_decoder", **SMALL, encdec_source="your text")
    assert app.error
    assert "= the model's `numel()`" not in captions(app)


def test_own_text_begins_with_one_line_and_no_padding() -> None:
    app = open_page("encoder_decoder", encdec_source="your text")
    for words in ("have no decoder: both halves are random, drawn from its seed 0", "untrained: random weights",
                  "16 source tokens · 23 target tokens · 6 layers × 12 heads"):  # fmt: skip
        assert words in captions(app)
    assert sentences(app) == ""
    assert app.text_area(key="encdec_target").value == DEFAULT_TARGET
    assert "have no decoder" not in captions(page())


def test_the_sidebars_causal_switch_leaves_the_encoder_alone() -> None:
    app = page(causal="true", encdec_attention="encoder self")
    np.testing.assert_array_equal(array(charts(app)["encdec_pattern"]), seen(computed(), "encoder self", 0, 0))
    assert "causal switch" in captions(app)
    assert "causal" not in captions(page())


# --- lines and sentences


def test_a_missing_line_is_stood_in_for_by_the_last() -> None:
    app = page(sentence="2", encdec_target="een kat")
    assert "Sentence 2 has no target line of its own" in captions(app)
    expected = computed(1, 0, target="een kat")
    np.testing.assert_array_equal(array(charts(app)["encdec_pattern"]), seen(expected, "cross", 0, 0))


def test_a_line_without_a_sentence_counts_for_padding_only() -> None:
    app = page(encdec_target="een kat\neen kat\n\neen langere kat")
    assert "2 sentences, the target 3 lines" in captions(app)
    expected = computed(target="een kat\neen kat\neen langere kat")
    assert expected.target.padding.sum() == 8
    np.testing.assert_array_equal(array(charts(app)["encdec_pattern"]), seen(expected, "cross", 0, 0))
    assert "target 2 lines" not in captions(page())


# --- what cannot be


@pytest.mark.parametrize(("key", "blank"), [("encdec_target", ""), ("encdec_target", " \n\x00"), ("text", "")])
def test_a_blank_line_is_asked_for_and_the_other_stays_where_it_is(key: str, blank: str) -> None:
    app = page(**{key: blank})
    assert app.info
    assert not charts(app)
    assert charts(choose(app, **{key: "kat"}))
    (other,) = {"text", "encdec_target"} - {key}
    assert app.text_area(key=other).value == {"text": TEXT, "encdec_target": TARGET}[other]


@pytest.mark.parametrize(
    ("query", "sentence", "shape"),
    [
        ({"max_len": "16", "text": "a cat", "encdec_target": "een langere kat zat"},
         "The target has 19 tokens, more than max_len = 16: it is cut after 16.", (16, 16)),
        ({"max_len": "8", "text": "a cat sat", "encdec_target": "kat"},
         "The source has 9 tokens, more than max_len = 8: it is cut after 8.", (3, 3)),
        ({"text": "a cat", "encdec_target": "x" * 300},
         "The target has 300 tokens, more than the 256 that this server takes: it is cut after 256.", (256, 256)),
    ],
    ids=["target", "source", "server"],
)  # fmt: skip
def test_what_is_too_long_is_cut_with_a_sentence(query: dict[str, str], sentence: str, shape: tuple[int, int]) -> None:
    app = page(**query)
    assert sentences(app) == sentence
    assert array(charts(app)["encdec_mask_combined"]).shape == shape


def test_a_link_with_too_long_a_target_keeps_its_start() -> None:
    app = page(encdec_target="kat " * 200, text="a cat")
    assert "800 characters" in sentences(app)
    assert app.text_area(key="encdec_target").value == ("kat " * 200)[:500]
