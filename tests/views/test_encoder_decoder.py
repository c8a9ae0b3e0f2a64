"""The view Decoder as a function on values: masks, weights, next tokens and counts of pairs that are run here."""

from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
import torch

from playground import EncoderDecoder, ModelConfig, open_link
from playground.charts import palette
from playground.charts.chart import Chart, Control, HeadGrid, Panel, Paragraph, Table
from playground.charts.draw import draw_chart
from playground.charts.head_map import LEAST_CELL
from playground.charts.label import chart_label
from playground.charts.markdown import quote_place
from playground.charts.scene import Scene
from playground.errors import InputError, TooLargeError
from playground.link.params import DEFAULT_TARGET
from playground.runs.pair_run import PairRun, run_pair
from playground.text import Tokenizer, characters
from playground.text.tokenizer import words
from playground.training.shipped_network import load_translator
from playground.training.tasks.translation import WORDS
from playground.views.encoder_decoder import (
    MASKS,
    N_ROWS,
    Pair,
    answer_what_comes_next,
    linked_pair,
    show_attention,
    show_encoder_decoder,
    show_masks,
    show_next_tokens,
    show_parameters,
    show_translation,
)
from tests.training.tasks.test_translation import translate
from tests.views.scenes import SMALL, parts_of

SOURCES = ["a cat sat", "a <b>rather</b> longer cat"]
TARGETS = ["een kat", "een <i>kat</i> zat"]
FRENCH = "le petit chat noir voit une maison blanche"
OPTIONS = {"attention": "cross", "layer": 0, "head": 0, "position": 0}
OPEN = dict.fromkeys(("encdec_show_training", "encdec_show_masks", "encdec_show_costs"), True)
EXAMPLE_LINK = "https://host/encoder-decoder?weights=random&tokenizer=char&encdec_example="


def small_pair(line: int = 0, *, vocabulary: Tokenizer | None = None, **changes: Any) -> Pair:
    """One sentence and its line, through a small model."""
    vocabulary = vocabulary or characters()
    sources, targets = characters().encode_batch(SOURCES), vocabulary.encode_batch(TARGETS)
    model = EncoderDecoder(ModelConfig(**SMALL | {"n_layers": 3} | changes), vocabulary.vocab_size, 7)
    n_built = sum(parameter.numel() for parameter in model.parameters())
    return Pair(run_pair(model, sources, targets, line, line), vocabulary, n_built, "random", is_random=True)


def example(sentence: str = "the small black cat sees a white house") -> Pair:
    return linked_pair(open_link(EXAMPLE_LINK + sentence)).now


def scene_of(pair: Pair) -> Scene[Pair]:
    return Scene(pair)


def options(pair: Pair, **chosen: Any) -> dict[str, Any]:
    """The page's options, with its panels open."""
    return OPEN | {pair.key(name): value for name, value in (OPTIONS | chosen).items()}


def chart(items: Any, key: str) -> Chart[Pair]:
    return next(each for each in parts_of(items) if isinstance(each, Chart) and each.key == key)


def texts(items: Any) -> str:
    return "\n".join(each.text for each in parts_of(items) if isinstance(each, Paragraph))


def pattern_of(pair: Pair, **chosen: Any) -> tuple[dict[str, Any], str]:
    """The large heatmap's trace, and its caption."""
    scene = scene_of(pair)
    drawn = draw_chart(chart(show_attention(scene, options(pair, **chosen)), "encdec_pattern"), scene).now
    return drawn.figure["data"][0], drawn.caption


# --- attentions and masks


@pytest.mark.parametrize("line", [0, 1])
@pytest.mark.parametrize("attention", ["encoder self", "decoder self", "cross"])
def test_the_chosen_head_is_the_runs_own_and_padding_is_grey(attention: str, line: int) -> None:
    pair = small_pair(line)
    run = pair.run
    queries, keys = run.sides(attention)
    cells, caption = pattern_of(pair, attention=attention, layer=2, head=3, position=2)
    weights = run.patterns[attention][2, 3]
    seen = run.allowed(attention) & ~queries.padding[:, None]
    np.testing.assert_array_equal(cells["z"], np.where(seen, weights, np.float32(np.nan)))
    assert cells["zmax"] == weights[seen].max()
    assert [len(cells[axis]) for axis in "yx"] == [len(queries.tokens), len(keys.tokens)]
    assert "&lt;" in cells["x"][2] if line and keys is run.source else True
    row = 2 if queries is run.target else int(weights[: queries.n_real].max(axis=1).argmax())
    largest, even = weights[row].max(), 1 / run.allowed(attention)[row].sum()
    assert quote_place(queries.tokens, row) in caption
    two_digits = f"{largest:.2f}" if largest >= 0.1 else f"{largest:.2g}"
    assert f"the largest, {two_digits}, lies on {quote_place(keys.tokens, int(weights[row].argmax()))}" in caption
    assert f"each would be {even:.3g}" in caption
    assert ("Grey" in caption) == (not seen.all())


@pytest.mark.parametrize(("attention", "position"), [("cross", 3), ("decoder self", 99), ("encoder self", 0)])
def test_a_row_of_the_target_is_a_step_to_choose(attention: str, position: int) -> None:
    pair = small_pair()
    items = show_attention(scene_of(pair), options(pair, attention=attention, position=position))
    drawn = draw_chart(chart(items, "encdec_pattern"), scene_of(pair)).now
    if attention == "encoder self":
        assert drawn.cells is None
        return
    assert drawn.cells is not None
    assert drawn.cells.rows == ("encdec_position", {row: row for row in range(7)}), "padding is no step"
    assert drawn.cells.columns is None
    assert drawn.chosen == {"encdec_position": min(position, 6)}


def test_choices_stand_above_the_map_that_they_change_whose_cells_a_finger_can_hit() -> None:
    pair = small_pair()
    items = parts_of(show_attention(scene_of(pair), options(pair)))
    keys = [each.key for each in items if isinstance(each, Chart | Control)]
    assert keys == ["encdec_attention", "encdec_layer", "encdec_head", "encdec_pattern", "encdec_grid"]
    drawn = draw_chart(chart(items, "encdec_pattern"), scene_of(pair)).now
    assert drawn.least_width > LEAST_CELL * len(pair.run.source.tokens)


def test_every_head_is_small_with_the_chosen_one_framed_and_beyond_the_model_is_its_last() -> None:
    pair = small_pair()
    grid = chart(show_attention(scene_of(pair), options(pair, layer=95, head=2)), "encdec_grid")
    assert isinstance(grid, HeadGrid)
    assert grid.places == ("encdec_layer", "encdec_head")
    assert grid.chosen == {"encdec_layer": 2, "encdec_head": 2}
    assert grid.opens == "encdec_pattern", "which lies above it on a phone"
    patterns = pair.run.patterns["cross"] * ~pair.run.target.padding[:, None]
    np.testing.assert_array_equal(grid.weights(pair), patterns)
    drawn = draw_chart(grid, scene_of(pair)).now
    assert drawn.table is not None
    np.testing.assert_array_equal(drawn.table(), patterns.max(axis=(2, 3)))
    go.Figure(drawn.figure)


@pytest.mark.parametrize("line", [0, 1])
def test_masks_are_the_runs_in_two_colours(line: int) -> None:
    pair = small_pair(line)
    scene, run = scene_of(pair), pair.run
    items = parts_of([show_masks(scene)])
    for name in MASKS:
        mask = chart(items, f"encdec_mask_{name.replace(' ', '_')}")
        drawn = draw_chart(mask, scene).now
        (cells,) = drawn.figure["data"]
        np.testing.assert_array_equal(cells["z"], run.masks[name])
        assert cells["z"].dtype == np.uint8
        assert (cells["zmin"], cells["zmax"], cells["showscale"], cells["xgap"]) == (0, 1, False, 1)
        assert [cells["colorscale"][end][1] for end in (0, -1)] == [palette.MUTED, palette.ATTENTION]
        assert chart_label(drawn.alt, drawn.figure) == drawn.alt  # which counts them: it has no largest
        assert drawn.table is None
        assert drawn.alt.startswith(MASKS[name][0])
        assert ("hides nothing here" in drawn.caption) == run.masks[name].all()
        for axis in ("xaxis", "yaxis"):
            assert 1 <= len(drawn.figure["layout"][axis]["tickvals"]) <= 8
        go.Figure(drawn.figure)
    (table,) = (each for each in items if isinstance(each, Table))
    np.testing.assert_array_equal(table.frame(pair), run.masks["combined"])
    n_padding = int(run.target.padding.sum())
    assert (f"padded queries, {n_padding} of them" in texts(items)) == (n_padding > 0)
    reads_padding = n_padding > 0 and pair.run.source.padding.any()
    assert ("every token would read padding" in texts(items)) == reads_padding


# --- the answer


@pytest.mark.parametrize(
    ("position", "attention", "name"),
    [
        (0, "cross", "cross-attention"),
        (99, "cross", "cross-attention"),
        (3, "decoder self", "the decoder's self-attention"),
        (3, "encoder self", "the encoder's self-attention"),
    ],
)
def test_the_answer_is_the_likeliest_token_and_where_the_open_head_of_the_shown_attention_looks(
    position: int, attention: str, name: str
) -> None:
    pair = small_pair()
    chosen = options(pair, position=position, layer=1, head=2, attention=attention)
    position = min(position, 6)
    logits = pair.run.logits[position].astype(np.float64)
    share = np.exp(logits[logits.argmax()]) / np.exp(logits).sum()
    queries, keys = pair.run.sides(attention)
    weights = pair.run.patterns[attention][1, 2]
    if attention == "encoder self":  # takes no steps: the largest weight of all
        position = int(weights[: queries.n_real].max(axis=1).argmax())
        reader = f"layer 1, head 2 looks from `{queries.tokens[position]}`"
    else:
        reader = "layer 1, head 2 looks"
    token = characters().id_to_token(int(logits.argmax()))
    told = answer_what_comes_next(pair, chosen)
    assert f"the decoder's next token is `{token}`, with a probability of **{100 * share:.2g}%**" in told
    assert f"In {name}, {reader}" in told
    assert f"most at `{keys.tokens[weights[position].argmax()]}`" in told
    side = "target" if attention == "decoder self" else "source"
    assert f"of the {side}, with weight **{weights[position].max():.2f}**." in told
    assert told.startswith("**Random weights**, so all of this is chance: after ")
    assert "chance" not in answer_what_comes_next(replace(pair, is_random=False), chosen)


def test_the_answer_of_the_example_is_never_surer_than_it_is_and_of_too_large_numbers_says_so() -> None:
    pair = example()
    told, share = answer_what_comes_next(pair, options(pair, layer=1, head=3)), pair.run.next_words(0).max()
    assert share > 0.999
    assert "`le`, with a probability of **more than 99.9%**" in told
    assert "It is sure of each word, with a probability of more than 99.9%" in texts(show_translation(pair))
    unsure = replace(pair, run=replace(pair.run, logits=0.5 * pair.run.logits))
    least = min(unsure.run.next_words(position).max() for position in range(9))
    assert f"least sure of *blanche*, with a probability of {100 * least:.0f}%" in texts(show_translation(unsure))
    sure = replace(pair, run=replace(pair.run, logits=1000 * pair.run.logits))
    assert "**more than 99.9%**" in answer_what_comes_next(sure, options(pair)), "it is 1 in 64-bit floats"
    assert "most at `the`₀ of the source" in told
    broken = replace(pair, run=replace(pair.run, logits=np.full_like(pair.run.logits, np.nan)))
    assert "cannot be told" in answer_what_comes_next(broken, options(pair))


@pytest.mark.parametrize("position", [0, 7, 8])
def test_the_answer_says_at_the_last_step_alone_that_the_sentence_ends(position: int) -> None:
    pair = example()
    chosen = options(pair, position=position)
    told, is_last = answer_what_comes_next(pair, chosen), position == 8
    assert ("`[EOS]`" in told) == ("it ends its sentence here." in told) == is_last
    assert ("The sentence ends here." in texts([show_next_tokens(scene_of(pair), chosen)])) == is_last


def test_closed_panels_hold_nothing() -> None:
    pair = example()
    items = show_encoder_decoder(scene_of(pair), options(pair) | dict.fromkeys(OPEN, False))
    assert {each.key: each.items for each in items if isinstance(each, Panel)} == dict.fromkeys(OPEN, ())


# --- next tokens


@pytest.mark.parametrize("position", [0, 3, 6, 99])
def test_next_tokens_are_the_softmax_of_the_logits_best_first(position: int) -> None:
    pair = small_pair()
    items = parts_of([show_next_tokens(scene_of(pair), options(pair, position=position))])
    (control,) = (each for each in items if isinstance(each, Control))
    assert (control.key, control.high) == ("encdec_position", 6)
    position = min(position, 6)
    logits = torch.from_numpy(pair.run.logits[position].copy()).double()
    probabilities = logits.softmax(0).numpy()
    best = np.argsort(-probabilities, kind="stable")[:5]
    (table,) = (each.frame(pair) for each in items if isinstance(each, Table))
    assert list(table.index) == list(range(1, 6))
    assert list(table["next token"]) == [characters().id_to_token(int(word)) for word in best]
    np.testing.assert_allclose(table["probability, %"], 100 * probabilities[best], rtol=1e-12)
    np.testing.assert_array_equal(table["logit"], logits[best.copy()])
    tokens = pair.run.target.tokens
    assert f"So far: {' '.join(tokens[: position + 1])}" in texts(items)
    if position == 6:
        assert "goes on with" not in texts(items)
    else:
        word = int(pair.run.target.ids[position + 1])
        place = 1 + int((probabilities > probabilities[word]).sum())
        assert f"Your target goes on with: {tokens[position + 1]}\n" in texts(items)
        assert f"has {100 * probabilities[word]:.2g}%, place {place}." in texts(items)


def test_the_words_of_a_small_vocabulary_are_its_own_and_no_markup() -> None:
    pair = small_pair(1, vocabulary=words(TARGETS))
    items = [show_next_tokens(scene_of(pair), options(pair, position=2))]
    (table,) = (each.frame(pair) for each in parts_of(items) if isinstance(each, Table))
    assert len(table) == N_ROWS < pair.vocabulary.vocab_size
    assert set(table["next token"]) < set(pair.run.target.tokens)
    assert table["probability, %"].sum() < 100
    assert r"So far: een \< i" in texts(items)


# --- parameters


def test_parameters_of_both_halves_add_up_to_the_model() -> None:
    pair = small_pair(norm="rms", positions="learned", max_len=64)
    model = EncoderDecoder(pair.run.config, characters().vocab_size, seed=None)
    halves = [sum(p.numel() for p in half.parameters()) for half in (model.encoder, model.decoder, model.fc)]
    items = list(show_parameters(scene_of(pair)))
    (shown,) = (each.frame(pair) for each in items if isinstance(each, Table))
    assert list(shown.loc["total"]) == [*halves, sum(halves)]
    assert (shown.drop("total").sum() == shown.loc["total"]).all()
    assert list(shown.loc["cross-attention"]) == [0, 3 * 4 * (16 * 16 + 16), 0, 3 * 4 * (16 * 16 + 16)]
    assert f"formulas: {sum(halves):,} = the model's `numel()`" in texts(items)
    assert f"Decoder less encoder is {halves[1] - halves[0]:,}." in texts(items)
    wrong = list(show_parameters(scene_of(replace(pair, n_built=1))))
    assert [each.kind for each in wrong if isinstance(each, Paragraph)] == ["error"]


# --- the trained example, and links


def test_the_example_is_translated_rightly_and_aligned() -> None:
    pair = example()
    translator = load_translator()
    batches = (translator.tokenizer.encode_batch([text]) for text in (" ".join(pair.words), f"[BOS] {FRENCH}"))
    expected: PairRun = run_pair(translator.network, *batches)  # type: ignore[arg-type]
    cells, caption = pattern_of(pair, layer=1, head=3, position=3)
    np.testing.assert_array_equal(cells["z"], expected.patterns["cross"][1, 3])
    assert list(cells["y"][:5]) == ["[BOS]₀", "le₁", "petit₂", "chat₃", "noir₄"], "a row is the token that is read"
    for part in ("reads `chat`₃ and writes `noir`", "lies on `black`₂", "For 8 of 8 words", "Layer 1, head 1 finds"):
        assert part in caption
    assert "This head finds the gender" in pattern_of(pair, layer=1, head=1)[1]
    of_target = pattern_of(pair, attention="decoder self")[0]
    assert list(of_target["y"]) == list(of_target["x"]) == list(cells["y"])
    text = texts(show_encoder_decoder(scene_of(pair), options(pair)))
    for part in (f"**{FRENCH}**", "The translation is right.", "800 steps", "goes on with: le"):
        assert part in text
    (shown,) = (each.frame(pair) for each in parts_of([show_next_tokens(scene_of(pair), options(pair))])
                if isinstance(each, Table))  # fmt: skip
    assert (shown["next token"].iloc[0], shown["probability, %"].iloc[0] > 99) == ("le", True)
    assert pair.n_built == 52_258
    agreeing = {kind for kind, forms in WORDS.items() if any(le and la and le != la for _, le, la in forms)}
    assert agreeing == {"article", "adjective", "colour"}, "as the page says"
    cat, house = (" ".join(translate(["the", "small", "white", noun])) for noun in ("cat", "house"))
    assert f"*{cat}*, but *{house}*" in text


@pytest.mark.parametrize(
    ("sentence", "part"),
    [
        ("the elephant sees Chat", "not learnt `elephant`, `chat`:"),
        ("the small black zebra sees a white house", "All that follows may be wrong too"),
        ("the cat " * 6, "12 words"),
        ("the black small cat", "no sentence of the grammar"),
        ("the $x$ `y` **z** <b> [a](b) 🙂 " + "wort " * 25, "not learnt"),
    ],
)
def test_unknown_words_and_long_sentences_are_named(sentence: str, part: str) -> None:
    pair = example(sentence)
    items = parts_of(show_encoder_decoder(scene_of(pair), options(pair)))
    (info,) = (each for each in items if isinstance(each, Paragraph) and each.kind == "info")
    assert part in info.text
    assert info.icon
    assert "translation is right" not in texts(items)
    assert (", so it may go wrong. After" in texts(items)) == ("learnt `" in part + info.text)
    assert "It is wrong" not in texts(items)


def test_a_link_of_the_visitors_text_has_its_run() -> None:
    link = "https://host/encoder-decoder?weights=random&tokenizer=word&encdec_source=your+text&n_layers=1"
    opened = open_link(f"{link}&text=a cat%0Aone more cat&sentence=2&encdec_target=een kat")
    pair = linked_pair(opened).now
    run = pair.run
    assert (run.source.tokens, run.target.tokens) == (("one", "more", "cat"), ("een", "kat"))
    assert (pair.is_random, pair.vocabulary.vocab_size, run.config.vocab_size) == (True, 2, 4)
    model = EncoderDecoder(run.config, 2, opened.seed)
    with torch.inference_mode():
        logits = model(torch.from_numpy(run.source.ids.copy())[None], torch.from_numpy(run.target.ids.copy())[None])
    np.testing.assert_allclose(run.logits, logits[0], rtol=1e-5, atol=1e-6)
    assert pair.key("layer") == "encdec_layer"
    assert open_link(link).values["encdec_target"] == DEFAULT_TARGET


def test_a_link_without_words_or_with_too_much_is_refused() -> None:
    with pytest.raises(InputError):
        example(".,!")
    own = "https://host/encoder-decoder?weights=random&tokenizer=char&encdec_source=your+text"
    with pytest.raises(InputError):
        linked_pair(open_link(f"{own}&encdec_target="))
    with pytest.raises(TooLargeError):
        linked_pair(open_link(own, max_parameters=1000))


def test_words_that_the_translator_does_not_read_are_told() -> None:
    longest = load_translator().config.max_len - 1
    for n, cut in ((longest, False), (longest + 1, True)):
        link = f"{EXAMPLE_LINK}{'+'.join(['king'] * n)}"
        told = texts(show_translation(linked_pair(open_link(link)).now))
        assert (f"It reads only the first {longest}." in told) == cut
        assert "It is wrong" not in told, "nothing is right where there is no sentence"
    long = "the cat sees the dog in the house with the cow under the door"
    assert "It is wrong: by its grammar it would be *le chat voit" in texts(show_translation(example(long)))
