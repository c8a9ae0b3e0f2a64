"""The view Encoder-decoder as a function on values: masks, weights, next tokens and counts of pairs run here."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
import torch

from playground import EncoderDecoder, ModelConfig, open_link
from playground.charts.chart import Chart
from playground.charts.draw import draw_chart
from playground.charts.heads import LEAST_CELL
from playground.charts.names import quote_place
from playground.charts.scene import Scene
from playground.errors import InputError, TooLargeError
from playground.link.lab import Source, write_lines
from playground.link.params import DEFAULT_TARGET
from playground.link.state import RANDOM, TextKey
from playground.runs.pair_run import PairRun, run_pair
from playground.text import Tokenizer, characters
from playground.training.trained_network import load_translator
from playground.views import encoder_decoder
from tests.views.scenes import SMALL, parts_of

SOURCES = ["a cat sat", "a <b>rather</b> longer cat"]
TARGETS = ["een kat", "een <i>kat</i> zat"]
FRENCH = "le petit chat noir voit une maison blanche"
OPTIONS = {"attention": "cross", "layer": 0, "head": 0, "position": 0}
OPEN = dict.fromkeys(("encdec_show_training", "encdec_show_masks"), True)
EXAMPLE_LINK = "https://host/encoder-decoder?weights=random&tokenizer=char&encdec_example="
OWN_LINK = "https://host/encoder-decoder?weights=random&n_layers=1&encdec_source=your+text&tokenizer="


def small_pair(line: int = 0, *, vocabulary: Tokenizer | None = None, **changes: Any) -> encoder_decoder.Pair:
    """One sentence and its line, through a small model."""
    vocabulary = vocabulary or characters()
    sources, targets = characters().encode_batch(SOURCES), vocabulary.encode_batch(TARGETS)
    model = EncoderDecoder(ModelConfig(**SMALL | {"n_layers": 3} | changes), vocabulary.vocab_size, 7)
    return encoder_decoder.Pair(run_pair(model, sources, targets, line, line), vocabulary)


def example(sentence: str = "the small black cat sees a white house") -> encoder_decoder.Pair:
    return encoder_decoder.pair_scene(open_link(EXAMPLE_LINK + sentence)).now


def options(pair: encoder_decoder.Pair, **chosen: Any) -> dict[str, Any]:
    """The page's options, with its panels open."""
    return OPEN | {pair.key(name): value for name, value in (OPTIONS | chosen).items()}


def chart(items: Any, key: str) -> Chart[encoder_decoder.Pair]:
    return next(each for each in parts_of(items) if isinstance(each, Chart) and each.key == key)


# --- attentions and masks


@pytest.mark.parametrize("line", [0, 1])
@pytest.mark.parametrize("attention", ["encoder self", "decoder self", "cross"])
def test_the_chosen_head_is_the_runs_own_and_padding_is_grey(attention: str, line: int) -> None:
    pair = small_pair(line)
    run = pair.run
    queries, keys = run.sides(attention)
    chosen = options(pair, attention=attention, layer=2, head=3, position=99)
    drawn = draw_chart(chart(encoder_decoder.show_attention(pair, chosen), "encdec_pattern"), Scene(pair)).now
    cells, weights = drawn.figure["data"][0], run.patterns[attention][2, 3]
    seen = run.allowed(attention) & ~queries.padding[:, None]
    np.testing.assert_array_equal(cells["customdata"], np.where(seen, weights, np.float32(np.nan)))
    assert [len(cells[axis]) for axis in "yx"] == [len(queries.tokens), len(keys.tokens)]
    assert drawn.least_width > LEAST_CELL * len(keys.tokens)
    last = run.target.n_real - 1
    row = last if queries is run.target else int(weights[: queries.n_real].max(axis=1).argmax())
    found = encoder_decoder.find_next(pair, chosen)
    assert found["query"] == quote_place(queries.tokens, row)
    assert found["key"] == quote_place(keys.tokens, int(weights[row].argmax()))
    assert found["weight"] == weights[row].max()
    if queries is run.target:
        assert drawn.cells is not None
        assert drawn.cells.rows is not None
        assert drawn.cells.rows[0] == "encdec_position"
        assert drawn.chart.chosen == {"encdec_position": last}


def test_masks_are_the_runs() -> None:
    pair = small_pair(1)
    items = parts_of([encoder_decoder.show_masks(pair.run)])
    for name in encoder_decoder.MASKS:
        drawn = draw_chart(chart(items, f"encdec_mask_{name.replace(' ', '_')}"), Scene(pair)).now
        np.testing.assert_array_equal(drawn.figure["data"][0]["z"], pair.run.masks[name])
        go.Figure(drawn.figure)


# --- next tokens


def test_next_tokens_are_the_softmax_of_the_logits_best_first() -> None:
    pair, position = small_pair(), 3
    logits = torch.from_numpy(pair.run.logits[position].copy()).double()
    probabilities = logits.softmax(0).numpy()
    best = np.argsort(-probabilities, kind="stable")[: encoder_decoder.N_ROWS]
    table = encoder_decoder.rank_next_tokens(pair, position)
    assert list(table["next token"]) == [characters().id_to_token(int(word)) for word in best]
    np.testing.assert_allclose(table["probability, %"], 100 * probabilities[best], rtol=1e-12)
    np.testing.assert_array_equal(table["logit"], logits[best.copy()])
    found = encoder_decoder.find_next(pair, options(pair, position=position))
    assert found["token"] == f"`{table['next token'].iloc[0]}`"
    assert found["percent"] == pytest.approx(100 * probabilities.max())


# --- the trained example, and links


def test_the_example_is_translated_rightly() -> None:
    pair, translator = example(), load_translator()
    batches = (
        translator.tokenizer.encode_batch([text]) for text in (" ".join(pair.run.source.tokens), f"[BOS] {FRENCH}")
    )
    expected: PairRun = run_pair(translator.network, *batches)  # type: ignore[arg-type]
    np.testing.assert_array_equal(pair.run.patterns["cross"], expected.patterns["cross"])
    assert " ".join(pair.run.target.tokens[1:]) == FRENCH
    assert encoder_decoder.check_translation(pair) == ("right", FRENCH)
    assert encoder_decoder.find_next(pair, options(pair, layer=1, head=3, position=3))["token"] == "`noir`"
    assert (
        encoder_decoder.check_translation(example("the cat sees the dog in the house with the cow under the door"))[0]
        == "wrong"
    )


@pytest.mark.parametrize("sentence", ["the cat " * 6, "the $x$ `y` **z** <b> [a](b) 🙂 " * 3])
def test_what_is_no_sentence_of_the_grammar_is_translated_all_the_same(sentence: str) -> None:
    pair = example(sentence)
    assert encoder_decoder.check_translation(pair) == ("open", "")
    assert parts_of(encoder_decoder.show_encoder_decoder(Scene(pair), options(pair)))


def test_a_link_of_the_visitors_text_has_its_run() -> None:
    opened = open_link(f"{OWN_LINK}word&text=a cat%0Aone more cat&sentence=2&encdec_target=een kat")
    pair = encoder_decoder.pair_scene(opened).now
    run = pair.run
    assert (run.source.tokens, run.target.tokens) == (("one", "more", "cat"), ("een", "kat"))
    assert (pair.weights, pair.vocabulary.vocab_size, run.config.vocab_size) == ("random", 2, 4)
    model = EncoderDecoder(run.config, 2, opened.values["seed"])
    with torch.inference_mode():
        logits = model(torch.from_numpy(run.source.ids.copy())[None], torch.from_numpy(run.target.ids.copy())[None])
    np.testing.assert_allclose(run.logits, logits[0], rtol=1e-5, atol=1e-6)
    assert pair.key("layer") == "encdec_layer"
    assert open_link(f"{OWN_LINK}word").values["encdec_target"] == DEFAULT_TARGET
    cut = encoder_decoder.pair_scene(open_link(f"{OWN_LINK}char&text=ab&encdec_target={'x' * 300}")).now
    assert (cut.n_cut, cut.run.target.n_real) == (44, 256)


def test_a_link_without_words_or_with_too_much_is_refused() -> None:
    with pytest.raises(InputError):
        example(".,!")
    with pytest.raises(InputError):
        encoder_decoder.pair_scene(open_link(f"{OWN_LINK}char&encdec_target="))
    with pytest.raises(TooLargeError):
        encoder_decoder.pair_scene(open_link(f"{OWN_LINK}char", max_parameters=1000))


def test_a_decoder_that_does_not_end_is_stopped_before_its_positions_do(monkeypatch: pytest.MonkeyPatch) -> None:
    source, text = Source(), TextKey("char", 0, 8, ("ab",))
    n = source.tokenizer(text).vocab_size
    config = ModelConfig(vocab_size=n, d_model=8, n_heads=2, n_layers=1, d_ff=8, max_len=8)
    monkeypatch.setattr(source, "trained_pair", lambda weights: EncoderDecoder(config, n))
    (line,) = write_lines(source, RANDOM, text, config.max_len)
    assert 1 < len(line.split()) < config.max_len
