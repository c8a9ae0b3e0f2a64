"""Where the difference sits: how much nearer is that of replaced vectors, and buttons make pairs."""

import re

import numpy as np
import pytest
import torch

from playground import Encoder
from playground.model.changes import Change
from tests.web.app_test import SMALL, array, captions, charts, choose, open_page, press, prose, small_trace
from tests.web.views.what_if.what_if_page import CONFIG, PAIR, PLACES, measured, open_view, vector

FIRST, SECOND = PAIR.split("\n")


def share(depth: int, token: int) -> float:
    """How much nearer one patched vector brings the second sentence's vector to the first's."""
    encoder, (clean, corrupted) = Encoder(CONFIG, 0), (small_trace(FIRST), small_trace(SECOND))
    name = "embed.out" if depth == 0 else f"layers.{depth - 1}.out"
    stream = corrupted[name].clone()
    stream[0, token] = clean[name][0, token]
    with torch.inference_mode():
        patched = encoder.encode(stream, first_layer=depth)[0].mean(0).numpy()
    start, goal = vector(encoder, SECOND), vector(encoder, FIRST)
    return float(1 - np.linalg.norm(patched - goal) / np.linalg.norm(start - goal))


def test_every_place_brings_what_it_brings_by_hand() -> None:
    app = open_view(PLACES, sentence=2, whatif_other=1)
    expected = [[share(depth, token) for token in range(len(FIRST))] for depth in range(3)]
    traces = charts(app)["patched_places"]
    np.testing.assert_allclose(array(traces), expected, atol=1e-4)
    assert array(traces, name="x").tolist()[2:6] == ["c for d₂", "a for o₃", "t for g₄", "␣₅"]
    assert "**3 tokens differ:**" in prose(app)
    elsewhere = np.array(expected)
    elsewhere[:, 2:5] = np.nan
    assert f"**{np.nanmax(elsewhere):.0%}**" in prose(app)
    assert "“a cat sat”" in captions(app)
    assert "sentence 2 of 2 · " in captions(app)


def test_where_no_vector_brings_the_sentence_nearer_none_is_named() -> None:
    """With dog and man exchanged, each embedding that differs leads away: the others' 0 is no nearer, and no best."""
    text = "The dog bit the man.\nThe man bit the dog."
    app = measured(open_page("what_if", whatif_view=PLACES, text=text))
    embeddings = array(charts(app)["patched_places"])[0]
    np.testing.assert_allclose(np.delete(embeddings, [2, 5]), 0, atol=1e-4)
    assert embeddings[[2, 5]].max() < -0.01
    assert "At the embeddings, none brings it any nearer." in prose(app)
    assert "[CLS]" not in prose(app).split("After 3 blocks")[0].split("embeddings")[1]
    assert not re.search(r"[-−]\d+%", prose(app))


def test_a_patch_becomes_a_change_that_other_pages_show() -> None:
    app = open_view(PLACES, sentence=2, whatif_other=1, layer=1, query=3)
    press(app, "whatif_patch_0")
    press(app, "whatif_patch_1")
    made = [made.change for made in app.session_state["do"].made]
    assert made == [Change("patch", 1, None, ("out", 3, 0)), Change("patch", None, None, ("embed", 3, 0))]
    assert app.button(key="whatif_patch_0").label.startswith("Undo: ")


@pytest.mark.parametrize(("asked", "taken"), [(1, 2), (3, 4), (4, 4), (8, 4)])
def test_a_sentence_that_cannot_be_patched_from_gives_way_to_the_next_that_can(asked: int, taken: int) -> None:
    text = "a cat sat\na dog sat\na long sentence\na fox ran"
    app = open_view(PLACES, text, whatif_other=asked)
    assert f"Sentence {taken}: " in captions(app)
    assert ("Possible here: 2 and 4." in captions(app)) == (asked in (1, 3))


def test_without_a_pair_a_button_copies_the_sentence_with_another_word() -> None:
    app = open_page("what_if", whatif_view=PLACES, text="The man saw it", query=5, **SMALL)
    assert "with as many tokens" in prose(app)
    assert "patched_places" not in charts(app)
    label = app.button(key="whatif_corrupt").label
    measured(press(app, "whatif_corrupt"))
    changed = app.session_state["text"].split("\n")
    assert label == f"Copy this sentence with “{changed[1].split()[1]}” for “man”"
    assert f"is sentence 1 with {label.partition(' with ')[2]}." in captions(app)
    assert "whatif_other" not in {slider.key for slider in app.slider}, "there is one other sentence alone"
    assert changed[0] == "The man saw it"
    assert changed[1][:4] == "The "
    assert changed[1][7:] == " saw it"
    assert changed[1] != changed[0]
    assert (app.session_state["sentence"], app.session_state["whatif_other"]) == (2, 1)
    assert app.session_state["query"] == next(i for i in range(14) if changed[0][i] != changed[1][i])
    assert array(charts(app)["patched_places"]).shape == (3, 14)


def test_an_example_pair_joins_the_text() -> None:
    app = open_page("what_if", whatif_view=PLACES, text="x", **SMALL)
    assert app.button(key="whatif_corrupt").disabled is False
    measured(press(app, "whatif_example"))
    assert app.session_state["text"] == "x\nThe animal was too tired to cross.\nThe street was too tired to cross."
    assert (app.session_state["sentence"], app.session_state["whatif_other"]) == (3, 2)
    embeddings = array(charts(app)["patched_places"])[0]
    np.testing.assert_allclose(np.delete(embeddings, range(4, 10)), 0, atol=1e-4)
    assert np.abs(embeddings[4:10]).min() > 1e-3


def test_a_change_of_one_token_is_switched_off_beside_another_sentence() -> None:
    app = open_page("what_if", whatif_view=PLACES, text="one two", do="0.1:zero,0.*:hide_3", **SMALL)
    made = {str(each.change): each.is_on for each in app.session_state["do"].made}
    assert list(made.values()) == [True, True]
    press(app, "whatif_example")
    assert [each.is_on for each in app.session_state["do"].made] == [True, False]
    assert "Changes that name a token were switched off" in captions(app)


def test_the_trained_model_gets_the_doctor_and_the_nurse() -> None:
    app = open_page("what_if", whatif_view=PLACES)
    measured(press(app, "whatif_example"))
    shares = array(charts(app)["patched_places"])
    assert shares.shape == (7, 10)
    assert shares[0, 2] == pytest.approx(1, abs=1e-4)
    assert "`doctor` in place of `nurse`₂" in prose(app)


def test_a_full_text_has_no_room_for_more() -> None:
    app = open_view(PLACES, "\n".join(f"sentence {i}" for i in range(8)))
    assert app.button(key="whatif_corrupt").disabled
    assert app.button(key="whatif_example").disabled
    choose(app, sentence=5)
    assert "patched_places" in charts(app)


@pytest.mark.sweep
@pytest.mark.parametrize(
    "changes",
    [
        {"norm_placement": "pre", "final_norm": True, "causal": True},
        {"norm": "none", "residual": False, "n_heads": 1, "n_layers": 1, "positions": "none"},
        {"tokenizer": "word"},
        {"tokenizer": "vectors"},
        {"tokenizer": "bpe", "vocab_size": 300},
    ],
    ids=str,
)
def test_the_map_is_drawn_in_every_architecture(changes: dict[str, object]) -> None:
    app = open_view(PLACES, "a <b> $x$\na <i> $x$\nx", **changes)
    assert "patched_places" in charts(app)
    assert array(charts(app)["patched_places"])[0].max() == pytest.approx(1, abs=1e-3) or changes["tokenizer"] == "bpe"
