"""`read` and what it returns, against the same numbers by hand in torch."""

import copy
import json
import pydoc
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import tokenizers
import torch
from torch import Tensor

import playground
from playground import Encoder, ModelConfig, Reading, Trace, compare, diff, notebook, open_link, read
from playground.errors import InputError, PlaygroundError, PretrainedError
from playground.language.text import IDS, MASK_ID, VOCABULARY
from playground.pretrained import load
from playground.runs.arrays import Array
from playground.text import characters

FAMILIES = Path(__file__).parent / "data/families"
CONFIG = ModelConfig(vocab_size=300, d_model=16, n_heads=4, n_layers=2, d_ff=24, norm_placement="pre", final_norm=True)
ENCODER, LETTERS = Encoder(CONFIG, seed=1), characters()
TEXT, OTHER = "a red box", "a big box"
KEYS = "The keys near the old box are rusty."


def small(text: str = TEXT, **options: Any) -> Reading:
    return read(text, weights=(ENCODER, LETTERS), **options)


def ids(text: str = TEXT) -> Tensor:
    return LETTERS.encode_batch([text]).ids


def vector(encoder: Encoder, text: str = TEXT) -> Array:
    with torch.inference_mode():
        mean: Array = encoder(ids(text))[0].mean(0).numpy()
    return mean


def distance(one: Array, other: Array) -> float:
    return float(np.linalg.norm(one - other))


# --- one reading


def test_a_head_and_its_queries_are_those_of_the_weights_by_hand() -> None:
    block: Any = ENCODER.layers[0]
    with torch.inference_mode():
        x = block.norm1(ENCODER.embed(ids()))[0]
        q, k = (x @ getattr(block.attn, each).weight.T + getattr(block.attn, each).bias for each in "qk")
        rows = slice(2 * 4, 3 * 4)  # head 2 of width 4
        weights = (q[:, rows] @ k[:, rows].T / 2).softmax(-1)
    reading = small()
    np.testing.assert_allclose(reading["layers.0.attn.q"][2], q[:, rows], atol=1e-6)
    pattern = reading.pattern(0, 2)
    np.testing.assert_allclose(pattern, weights, atol=1e-6)
    assert list(pattern.columns[:3]) == list(pattern.index[:3]) == ["a₀", f"{reading.tokens[1]}₁", "r₂"]
    assert (pattern.index.name, pattern.columns.name) == ("query", "key")


def test_every_point_is_that_of_a_trace_of_minilm() -> None:
    encoder, tokenizer = load("minilm")
    batch, trace = tokenizer.encode_batch([KEYS]), Trace()
    encoder(batch.ids, batch.mask, trace)
    reading = read(KEYS)
    assert list(reading) == reading.points == list(trace)
    assert "final" in reading
    for name, tensor in trace.items():
        np.testing.assert_allclose(reading[name], tensor[0].numpy(), atol=1e-5, err_msg=name)


def test_settings_text_and_changes_are_the_encoders() -> None:
    settings: dict[str, Any] = {"d_model": 20, "n_heads": 5, "n_layers": 1, "seed": 3}  # no stop of a slider
    reading = read("one two\nthree", weights="random", tokenizer="word", sentence=2, changes="0.1:zero", **settings)
    assert (reading.tokens, reading.config.d_model) == (["three"], 20)
    assert not reading["layers.0.attn.z"][1].any()
    expected = Encoder(reading.config, seed=3)(torch.tensor([[reading.lab.batch.ids[1, 0]]]))[0].detach().numpy()
    plain = read("one two\nthree", weights="random", tokenizer="word", sentence=2, **settings)
    np.testing.assert_allclose(plain["final"][:1], expected, atol=1e-6)


def test_it_says_its_shapes_and_warns_of_what_it_leaves_out() -> None:
    shapes = "layers.0.attn.pattern (4, 9, 9), final (9, 16), …"
    sizes = f"2 layers × 4 heads, d_model 16; {len(small().points)} points: {shapes}"
    assert repr(small()) == f"own weights on 9 tokens: {' '.join(small().tokens)}\n{sizes}"
    assert repr(small(changes="1.2:Zero, -0.1:zero")).startswith("own weights (changed: 1.2:zero) on 9 tokens: ")
    assert repr(playground.count_parameters(CONFIG)) == "Count of 8,752 in 18 terms"
    trace = Trace()
    ENCODER(ids(), trace=trace)
    assert repr(trace).endswith("points: embed.tokens (1, 9, 16), embed.sum (1, 9, 16), …, final (1, 9, 16)")
    with pytest.warns(UserWarning, match="cut after 256 tokens; 44 more"):
        small("a" * 300)


# --- what the pages compute


def test_an_effect_is_how_far_the_vector_moves_with_the_heads_rows_at_zero() -> None:
    heads, sublayers = np.zeros((2, 4)), np.zeros((2, 2))
    for layer in range(2):
        for head in range(4):
            without: Any = copy.deepcopy(ENCODER)
            without.layers[layer].attn.o.weight.data[:, 4 * head : 4 * head + 4] = 0
            heads[layer, head] = distance(vector(without), vector(ENCODER))
        for i, name in enumerate(("attn.o", "ffn.down")):
            without = copy.deepcopy(ENCODER)
            for parameter in without.get_submodule(f"layers.{layer}.{name}").parameters():
                parameter.data.zero_()
            sublayers[layer, i] = distance(vector(without), vector(ENCODER))
    length = np.linalg.norm(vector(ENCODER))
    reading = small(changes="1.0:zero")
    np.testing.assert_allclose(reading.effect_of("heads"), heads / length, rtol=1e-3)
    found = reading.effect_of("sublayers")
    np.testing.assert_allclose(found, sublayers / length, rtol=1e-3)
    assert list(found.columns) == ["attention", "feed-forward"]


def test_a_patch_is_a_pass_that_goes_on_with_one_vector_of_the_other_sentence() -> None:
    with torch.inference_mode():
        streams = [[ENCODER.embed(ids(text))] for text in (TEXT, OTHER)]
        for each in streams:
            each += [ENCODER.encode(each[0], end_layer=1), ENCODER.encode(each[0], end_layer=2)]
        start, goal = vector(ENCODER), vector(ENCODER, OTHER)
        found = small().patch(OTHER)
        for depth, token in ((0, 2), (1, 2), (2, 4), (1, 8)):
            x = streams[0][depth].clone()
            x[:, token] = streams[1][depth][:, token]
            patched = ENCODER.encode(x, first_layer=depth)[0].mean(0).numpy()
            nearer = 1 - distance(patched, goal) / distance(start, goal)
            assert found.iloc[depth, token] == pytest.approx(nearer, abs=1e-5)
    assert found.shape == (3, 9)
    np.testing.assert_array_equal(small().patch(small(OTHER)), found)


def test_an_answer_and_every_depth_are_what_the_head_says() -> None:
    network: Any = load("english", n_layers=1, positions="none")[0]
    sentence = KEYS.replace("are", "[MASK]")
    reading = read(sentence, weights="english", n_layers=1, positions="none")
    assert [word for word, _ in reading.answer(3)] == [word for word, _ in network.predict(sentence, 3)]
    assert reading.answer(1)[0][1] == pytest.approx(network.predict(sentence, 1)[0][1], abs=1e-5)
    batch = network.tokenizer.encode_batch([sentence])
    place = batch.ids[0].tolist().index(MASK_ID)
    with torch.inference_mode():
        embedded = network.encoder.embed(batch.ids)[0, place]
        first = network.network.head(network.encoder.final_norm(embedded)).softmax(-1)
    lens = reading.logit_lens()
    np.testing.assert_allclose(lens.loc[0, list(VOCABULARY)], first, atol=1e-6)
    assert list(lens.columns[:3]) == [word for word, _ in reading.answer(3)]
    assert repr(read(sentence, weights=(network, network.tokenizer))) == repr(reading)
    without: Any = copy.deepcopy(network)
    without.encoder.layers[0].attn.o.weight.data[:, 16:32] = 0
    before, after = (dict(each.predict(sentence, len(IDS)))["are"] for each in (network, without))
    hidden = read(KEYS, weights="english", mask=7, n_layers=1, positions="none")
    found = hidden.effect_of("heads", on="right answers")
    assert found.loc[0, 1] == pytest.approx(after - before, abs=1e-5)


def test_two_readings_and_two_architectures_are_compared() -> None:
    one, other = small(), small(changes="1.2:zero")
    table = compare(one, other)
    before, after = one["final"].astype(float), other["final"].astype(float)
    expected = np.max(np.linalg.norm(after - before, axis=1) / np.linalg.norm(before, axis=1))
    assert table.loc["final", "share of length"] == pytest.approx(expected, rel=1e-5)
    assert table.loc["final", "largest difference"] == pytest.approx(np.abs(after - before).max(), rel=1e-5)
    assert (table.loc[:"layers.1.attn.pattern", "largest difference"] == 0).all()
    assert diff(small(), ModelConfig(vocab_size=300, d_model=16, n_heads=4, n_layers=3, d_ff=24)) == {
        "n_layers": (2, 3), "norm_placement": ("pre", "post"), "final_norm": (True, False),
    }  # fmt: skip


# --- where weights come from, and where a reading goes


def test_a_folder_and_a_model_of_transformers_give_the_same() -> None:
    folder = FAMILIES / "bert"
    model = SimpleNamespace(
        config=SimpleNamespace(to_dict=lambda: json.loads((folder / "config.json").read_text())),
        state_dict=lambda: safetensors.torch.load_file(folder / "model.safetensors"),
    )
    tokenizer = SimpleNamespace(backend_tokenizer=tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json")))
    readings = [read("w1 w2", weights=weights) for weights in (folder, str(folder), (model, tokenizer))]
    assert readings[0].tokens
    for each in readings[1:]:
        np.testing.assert_array_equal(each["final"], readings[0]["final"])
    with pytest.raises(PretrainedError, match="no model of transformers"):
        read("w1", weights=(model, None))


def test_a_link_opens_what_was_read_and_a_page_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = read(KEYS, weights="english", mask=7, n_layers=1, causal=True, changes="0.1:zero,-0.2:zero")
    opened = open_link(reading.link)
    assert opened.notices == ()
    np.testing.assert_array_equal(Reading(opened.lab)["final"], reading["final"])
    assert repr(opened) == f"attention: english on “{KEYS}”; notices: ()"
    displayed: list[Any] = []
    monkeypatch.setattr(notebook, "_put", displayed.append)
    small().show("norms")
    assert len(displayed) > 2
    for each in (small(), read("a", weights="random", tokenizer="word", d_model=20, n_heads=5, n_layers=1)):
        with pytest.raises(InputError, match="No link can"):
            each.link  # noqa: B018


# --- slips


SLIPS = r"""
read("a", weights="minlm") | the nearest is minilm; a model on the hub is owner/name
load("MiniLM") | the nearest is minilm; a model on the hub is owner/name
read("a", weights=ENCODER) | weights=\(model, tokenizer\)
read(["a"]) | one text
read("a", n_layer=3) | the nearest are n_layers
read("a", change="") | the nearest is changes
read("a", n_layers=3) | decide n_layers
read("a", seed=3) | decide seed
read("a", mask=1) | mask hides a word for weights="english" alone
read("a", weights="english", mask=9) | mask=9 is no word's position: they are 1 to 1
read("a", weights="random", d_model=24, n_heads=7) | 6 or 8 would work
read("a", weights="random", tokenizer="words") | not one of its values
read("a", weights=(Encoder(CONFIG), load()[1])) | Your tokenizer has 30,522 tokens, your model rows for 300
small(" \n ") | empty
small(sentence=2) | sentence=2 is not in this text; 1 would work
small(changes="1.1:zero, 1.1:zer") | ^'1.1:zer' is no change
small(changes=["1.1:zero"]) | changes is one text
small(changes="2.1:zero") | layers are 0 to 1
small()["layers.1.attn.Q"] | the nearest are layers\.1\.attn\.q
small()["layers.2.attn.q"] | There is no layer 2: the layers are 0 to 1
small()["?"] | there are \d+, such as embed.tokens, .*, final; list
small().pattern(1, 4) | heads are 0 to 3
small().effect_of("head") | the nearest is heads
small().effect_of("heads", on="right answers") | no head that names words
small().patch("a box") | these have 9 and 5
small().patch(TEXT) | Both are the same sentence
small().show("norm") | the nearest is norms
small().answer() | no head that names words: weights="english" has one
small().answer(-1) | no number of words
read("a", weights="english").answer() | No word is hidden
compare(small(), small(OTHER)) | same ones
compare(small(), read(TEXT, weights="random", tokenizer="char", d_model=8, n_heads=2)) | d_model is 16 and 8
playground.count_parameters(ENCODER) | encoder\.config
load(3) | a folder or a name
load("~/no/such") | ^There is no folder /
playground.show(3) | no link
playground.show("results?seed=1") | those that can are overview, attention, norms
"""
"""What somebody types, and a part of the sentence that answers it."""


@pytest.mark.parametrize(("slip", "message"), [line.split(" | ") for line in SLIPS.strip().splitlines()])
def test_a_slip_is_a_sentence_that_says_what_would_work(slip: str, message: str) -> None:
    with pytest.raises(PlaygroundError, match=message):
        eval(slip)


def test_help_fits_on_two_screens_and_every_public_name_is_there() -> None:
    with warnings.catch_warnings(action="ignore"):  # pydoc reads names that other packages have given up
        text = pydoc.plain(pydoc.render_doc(playground))
    assert len(text.splitlines()) <= 120
    for name in (*playground.__all__, "Encoder", "EncoderDecoder", "ModelConfig", "Trace", "ConfigError", "Reading"):
        assert hasattr(playground, name)
        assert name in text
