"""A tutorial's own state opens as it was saved, and computes what the tutorial's code computes with it."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from playground import EncoderDecoder
from playground.errors import WeightsError
from playground.model.positions import sinusoids
from playground.weights import build_encoder, load_weights, read_tensors, recognise_tensors
from playground.weights.load import kind_of_positions
from tests.weights.as_saved import FOLDER, NAMES, ON_ATTENTION, ON_OUTPUTS, TARGET_VOCABULARY, compute, load, read

TABLES = {
    "a_whole": "pos_encoding.positional_encoding",
    "d_model": "pos_encoding.pe",
    "e_transformer": "positional_encoding.positional_encoding",
}
"""The files that hold a position table, and what it is called there."""

OF_VECTORS = [name for name in NAMES if "x" in read(name).arrays]


def largest_difference(ours: Tensor, theirs: Tensor) -> float:
    assert ours.shape == theirs.shape
    return float((ours.detach() - theirs).abs().max())


@pytest.mark.parametrize("name", NAMES)
def test_a_state_computes_the_tutorials_numbers(name: str) -> None:
    state = read(name)
    out, trace = compute(load(name), state)
    assert largest_difference(out, state.arrays["output"]) <= ON_OUTPUTS
    if "attention" in state.arrays:
        patterns = torch.stack([trace[f"layers.{i}.attn.pattern"] for i in range(state.config.n_layers)])
        assert largest_difference(patterns, state.arrays["attention"]) <= ON_ATTENTION


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_recognised_and_its_encoder_is_the_one_that_was_saved(name: str) -> None:
    state = read(name)
    tensors = read_tensors(FOLDER / f"{name}.safetensors")
    found = recognise_tensors(tensors)
    assert found.scheme == state.tutorial
    assert found.tgt_vocab_size == (TARGET_VOCABULARY if name == "e_transformer" else 0)
    config = found.config(n_heads=4, max_len=6)
    assert config == replace(state.config, dropout=0.1, initialisation="xavier")  # both leave no trace
    whole = load(name)
    saved = whole.encoder if isinstance(whole, EncoderDecoder) else whole
    built = build_encoder(tensors, found, config).state_dict()
    assert built.keys() == saved.state_dict().keys()
    assert all(torch.equal(tensor, built[ours]) for ours, tensor in saved.state_dict().items())


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("kept", ["buffer", "parameter", "missing"])
def test_a_table_of_sines_may_be_a_buffer_a_parameter_or_missing(name: str, kept: str) -> None:
    state = read(name)
    table = state.tensors[TABLES[name]]
    held = {"buffer": {}, "parameter": {TABLES[name]: torch.nn.Parameter(table)}, "missing": {}}
    tensors: dict[str, Tensor] = {**state.tensors, **held[kept]}
    if kept == "missing":
        del tensors[TABLES[name]]
    model = load(name)
    load_weights(model, tensors, state.tutorial)
    assert largest_difference(compute(model, state)[0], state.arrays["output"]) <= ON_OUTPUTS
    found = recognise_tensors(tensors)
    assert found.open_settings["positions"] == "sinusoidal"
    assert ("max_len" in found.settings) == (kept != "missing")


@pytest.mark.parametrize("name", TABLES)
def test_a_table_that_was_trained_becomes_learned_positions(name: str) -> None:
    state = read(name)
    trained = state.tensors[TABLES[name]] + 0.001 * torch.arange(6)[:, None]
    tensors = {**state.tensors, TABLES[name]: trained}
    found = recognise_tensors(tensors)
    assert (found.settings["positions"], found.settings["max_len"]) == ("learned", 6)
    assert "positions" not in found.open_settings
    encoder = build_encoder(tensors, found, found.config(n_heads=4))
    assert torch.equal(encoder.state_dict()["embed.positions.weight"], trained[0])
    with pytest.raises(WeightsError, match="is no table of sines and cosines; a model with positions='learned' takes"):
        load_weights(load(name), tensors, state.tutorial)


@pytest.mark.parametrize(
    ("table", "kind"),
    [
        (sinusoids(5_000, 64), "sinusoidal"),
        (sinusoids(40, 15).half(), "sinusoidal"),
        (sinusoids(40, 16).bfloat16(), "sinusoidal"),
        (sinusoids(40, 16).half().float(), "learned"),
        (sinusoids(50, 16, doubled=True), "sinusoidal-doubled"),
        (sinusoids(50, 16) + 1e-3, "learned"),
        (torch.full((4, 6), torch.nan), "learned"),
        (torch.zeros(4, 6, dtype=torch.int64), "learned"),
    ],
)
def test_a_table_is_computed_or_learned(table: Tensor, kind: str) -> None:
    assert kind_of_positions(table) == kind
