"""What each tutorial's own code saves opens through the sidebar as it is, and the pages show its numbers."""

import pytest
import torch

from playground import Encoder
from playground.model import EncoderDecoder
from playground.runs.encoder_run import Run
from tests.web.app_test import captions, choose, open_page, values, widgets
from tests.web.sidebar.own_files import upload
from tests.weights.as_saved import FOLDER, NAMES, ON_ATTENTION, ON_OUTPUTS, load, read

OF_IDS = [name for name in NAMES if "ids" in read(name).arrays]
OF_VECTORS = [name for name in NAMES if "x" in read(name).arrays]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", OF_IDS)
def test_a_model_of_ids_gives_the_tutorials_numbers_for_typed_ids(name: str, passes: list[tuple[Encoder, Run]]) -> None:
    state = read(name)
    text = "\n".join(" ".join(map(str, row)) for row in state.arrays["ids"].tolist())
    app = upload(open_page("attention", weights="mine", text=text), (FOLDER / f"{name}.safetensors").read_bytes())
    choose(app, own_reading="ids", n_heads=4)
    assert not app.error
    tokens = tuple(map(str, state.arrays["ids"][0].tolist()))
    run = next(run for _, run in reversed(passes) if run.tokens == tokens)  # the page reads other sentences too
    model = load(name)
    if isinstance(model, EncoderDecoder):  # its file holds logits; the pages run the encoder half
        theirs = model.encoder(state.arrays["ids"][:1]).detach()[0]
    else:
        theirs = state.arrays["output"][0]
        patterns = torch.tensor(run.patterns())
        assert (patterns - state.arrays["attention"][:, 0]).abs().max() <= ON_ATTENTION
    assert (torch.tensor(run.arrays["final"]) - theirs).abs().max() <= ON_OUTPUTS


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", OF_VECTORS)
def test_a_model_of_vectors_runs_on_random_ones_and_the_panel_says_so(
    name: str, passes: list[tuple[Encoder, Run]]
) -> None:
    state = read(name)
    data = (FOLDER / f"{name}.safetensors").read_bytes()
    app = choose(upload(open_page(weights="mine", text="a b c", tokenizer="word", seed="3"), data), n_heads=4)
    assert not app.error
    encoder, run = passes[-1]
    assert (encoder.encode(state.arrays["x"]) - state.arrays["output"]).abs().max() <= ON_OUTPUTS
    drawn = Encoder(run.config, seed=3)
    tables = [model.state_dict()["embed.tokens.weight"] for model in (encoder, drawn)]
    assert torch.equal(*tables)
    assert torch.equal(torch.tensor(run.arrays["embed.out"]), drawn.embed(torch.tensor([[0, 1, 2]]))[0])
    assert "no token table: tokens are random vectors, drawn from seed 3" in captions(app)
    assert "own_reading" not in widgets(app)
    assert values(app, "seed") == {"seed": 3}
