"""A visitor's own file, from the sidebar to the charts: its numbers and its shape."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save

from playground.link.params import LOCKED, SIZES, model_config
from playground.link.query import settle
from playground.presets import PRESETS
from playground.weights.recognise import recognise
from tests.link.test_link_values import values_of_the_sidebar
from tests.test_oracles import FILES, read
from tests.training.trained import trained
from tests.web.app_test import captions, choose, locked, open_page, sentences, values
from tests.web.sidebar.own_files import IDS, open_mine, own_model, upload
from tests.web.sidebar.test_trained_panel import KINDS


def test_known_settings_are_locked_and_stand_as_the_file_says() -> None:
    app = open_mine(own_model(norm="rms", final_norm=True, fused_qkv=True))
    known = {"d_model": 20, "n_layers": 2, "d_ff": 24, "n_segments": 0, "norm": "rms", "final_norm": True}
    assert values(app, *known, "fused_qkv") == {**known, "fused_qkv": True}
    assert {*known, "fused_qkv"} <= locked(app)
    assert not {"n_heads", "max_len", "norm_eps", "norm_placement", "activation", "tokenizer"} & locked(app)
    assert "does not say **n_heads, norm_placement, norm_eps, activation, positions" in captions(app)


def test_what_is_asked_begins_with_the_tutorials_own() -> None:
    app = open_page(weights="mine", text=IDS, norm_placement="post", activation="silu", positions="none")
    upload(app, save(read(FILES["tutorial-a"]).weights))
    asked = {"norm_placement": "pre", "activation": "relu", "positions": "sinusoidal", "norm_eps": 1e-6, "n_heads": 8}
    assert values(app, *asked, "tokenizer") == {**asked, "tokenizer": "word"}
    assert f"“model.safetensors”**: names of {PRESETS['tutorial-a'].title}, 35 tensors" in captions(app)


def test_five_words_fit_five_rows_and_six_do_not() -> None:
    app = open_mine(own_model(vocab_size=5), text="this is an example sentence")
    assert not app.error
    choose(app, text="this is an example sentence too")
    assert len(app.error) == 1
    assert "word makes 6 different tokens of this, and your file's token table has 5 rows" in sentences(app)


@given(chosen=values_of_the_sidebar(), name=st.sampled_from([*KINDS, *FILES]), asked=st.sets(st.sampled_from(LOCKED)))
def test_any_settings_go_together_with_any_file_and_any_trained_network(
    chosen: dict[str, Any], name: str, asked: set[str]
) -> None:
    if name in KINDS:
        found, chosen = trained(name).recognised, chosen | {"weights": "trained here"}
    else:
        shapes = {key: tuple(tensor.shape) for key, tensor in read(FILES[name]).weights.items()}
        found, chosen = recognise(shapes), chosen | {"weights": "mine"}
    settled, _ = settle(chosen, asked, recognised=found)
    assert settle(settled, asked, recognised=found) == (settled, [])
    config = model_config(settled, vocab_size=9)
    known = {key: value for key, value in found.settings.items() if key != "vocab_size"}
    assert {key: getattr(config, key, settled[key]) for key in known} == known
    free = found.open_settings.keys() - {"n_heads", "positions"}
    assert {key: settled[key] for key in free} == {key: chosen[key] for key in free}
    away, _ = settle(settled | {"weights": "random"})
    assert all(away[key] in size.options for key, size in SIZES.items())
