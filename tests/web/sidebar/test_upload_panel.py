"""A visitor's own file, from the sidebar to the charts: its numbers, its shape, its session, and nobody else's."""

import gc
import time
import tomllib
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save
from streamlit.runtime.caching import clear_session_resource_cache
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.testing.v1 import AppTest
from torch import Tensor

from playground import Encoder, ModelConfig
from playground.errors import WeightsError
from playground.runs.encoder_run import Run
from playground.web.choices.architecture_params import ARCHITECTURE, SIZES
from playground.web.choices.link import model_config, settle
from playground.web.choices.params import LOCKED
from playground.web.server.settings import Settings
from playground.web.session import caches, memory_budget, uploaded_weights
from playground.web.session.turns import Turns
from playground.web.sidebar import upload_panel
from playground.weights import MAX_BYTES, recognise
from tests.test_oracles import FILES, ON_ATTENTION, ON_OUTPUTS, assert_close, read
from tests.web import app_test
from tests.web.app_test import (
    PAGES,
    SESSION,
    array,
    captions,
    charts,
    choose,
    locked,
    open_page,
    press,
    prose,
    sentences,
    uploader,
    values,
)
from tests.web.choices.test_link import values_of_the_sidebar

IDS = "a b c d e f g h i j k\ng d c h e i\ni k j c"
"""The oracles' ids, typed: words count from 0 in order of appearance, so lines 2 and 3 are their two sentences."""

REAL = (6, 4)
"""Tokens of the oracles' two sentences."""


def upload(app: AppTest, data: bytes, name: str = "model.safetensors") -> AppTest:
    app_test.upload(app, "own_file", data, name)
    assert uploader(app, "own_file").value is None, "the uploader still keeps its copy"
    return app


def open_mine(weights: dict[str, Tensor], page: str = "overview", text: str = IDS, **query: str) -> AppTest:
    """Choose `mine`, open a file, and say what oracles' files leave open."""
    app = upload(open_page(page, weights="mine", text=text, **query), save(weights))
    return choose(app, n_heads=4)


def own_model(**changes: Any) -> dict[str, Tensor]:
    sizes = {"vocab_size": 40, "d_model": 20, "n_heads": 4, "n_layers": 2, "d_ff": 24}
    return dict(Encoder(ModelConfig(**{**sizes, **changes}), seed=5).state_dict())


# --- the oracles' numbers


@pytest.mark.parametrize("sentence", [2, 3])
@pytest.mark.parametrize("tutorial", ["tutorial-a", "tutorial-d", "tutorial-e"])
def test_a_tutorials_file_gives_the_tutorials_numbers(
    tutorial: str, sentence: int, passes: list[tuple[Encoder, Run]]
) -> None:
    oracle, row, n = read(FILES[tutorial]), sentence - 2, REAL[sentence - 2]
    app = open_mine(oracle.weights, "attention", sentence=str(sentence), attention_layer="1", attention_head="2")
    assert not app.error
    assert "your own weights" in captions(app)
    run = passes[-1][1]
    output = oracle.arrays["encoder_output" if tutorial == "tutorial-e" else "output"][row, :n]
    assert_close(torch.tensor(run.arrays["final"][:n]), output, ON_OUTPUTS)
    if "attention" in oracle.arrays:
        pattern = oracle.arrays["attention"][:, row, :, :n, :n]
        assert_close(torch.tensor(run.patterns()[:, :, :n, :n]), pattern, ON_ATTENTION)
        shown = array(charts(app)["attention_pattern"])[:n, :n]
        np.testing.assert_allclose(shown, pattern[1, 2], rtol=0, atol=ON_ATTENTION)
    if tutorial == "tutorial-e":
        assert "The encoder half" in captions(app)


@pytest.mark.parametrize("tutorial", ["tutorial-b", "tutorial-c"])
def test_a_file_without_a_token_table_gives_the_tutorials_numbers_for_its_vectors(
    tutorial: str, passes: list[tuple[Encoder, Run]]
) -> None:
    oracle = read(FILES[tutorial])
    app = open_mine(oracle.weights, seed="3")
    assert "no token table: the tokens' vectors are random, drawn from the seed" in captions(app)
    encoder, run = passes[-1]
    assert_close(encoder.encode(encoder.embed_vectors(oracle.arrays["x"])), oracle.arrays["output"], ON_OUTPUTS)
    drawn = Encoder(run.config, seed=3).state_dict()["embed.tokens.weight"]
    assert torch.equal(encoder.state_dict()["embed.tokens.weight"], drawn)


# --- the sidebar follows the file


def test_known_settings_are_locked_and_stand_as_the_file_says() -> None:
    app = open_mine(own_model(norm="rms", final_norm=True, fused_qkv=True))
    known = {"d_model": 20, "n_layers": 2, "d_ff": 24, "n_segments": 0, "norm": "rms", "final_norm": True}
    assert values(app, *known, "fused_qkv") == {**known, "fused_qkv": True}
    assert {*known, "fused_qkv"} <= locked(app)
    asked = {"n_heads", "max_len", "norm_eps", "norm_placement", "activation", "positions", "tokenizer"}
    assert not asked & locked(app)
    assert "2 layers × 4 heads" in captions(app)
    assert "does not tell **n_heads, norm_placement, norm_eps, activation, positions" in captions(app)


def test_what_is_asked_begins_with_the_tutorials_own() -> None:
    app = open_page(weights="mine", text=IDS, norm_placement="post", activation="silu", positions="none")
    upload(app, save(read(FILES["tutorial-a"]).weights))
    asked = {"norm_placement": "pre", "activation": "relu", "positions": "sinusoidal", "norm_eps": 1e-6, "n_heads": 8}
    assert values(app, *asked, "tokenizer") == {**asked, "tokenizer": "word"}
    assert "“model.safetensors”**: the names of tutorial A, 35 tensors" in captions(app)


def test_an_answer_changes_the_numbers(passes: list[tuple[Encoder, Run]]) -> None:
    choose(open_mine(own_model()), norm_placement="pre", activation="gelu")
    configs = [run.config for _, run in passes]
    assert [config.norm_placement for config in configs[-3:]] == ["post", "pre", "pre"]
    assert [config.activation for config in configs[-3:]] == ["relu", "relu", "gelu"]
    assert len({run.arrays["final"].tobytes() for _, run in passes[-3:]}) == 3
    for encoder, _ in passes[-3:]:
        assert all(torch.equal(tensor, own_model()[name]) for name, tensor in encoder.state_dict().items())


def test_learned_positions_that_the_file_does_not_hold_are_not_to_be_had() -> None:
    app = choose(open_mine(own_model()), positions="learned")
    assert values(app, "positions") == {"positions": "sinusoidal"}
    assert "Your file has no table of learned positions; sinusoidal is used instead." in sentences(app)


def test_learned_positions_are_locked_with_their_length() -> None:
    app = open_mine(own_model(positions="learned", max_len=7))
    assert values(app, "positions", "max_len") == {"positions": "learned", "max_len": 7}
    assert "positions" in locked(app)
    assert "The sentence is cut after 7 tokens" in sentences(app)


def test_the_files_shape_comes_back_after_other_weights() -> None:
    app = open_mine(own_model())
    choose(app, weights="random")
    assert values(app)["d_model"] in {16, 24}, "a stop of the slider"
    assert ":orange-badge[random weights]" in captions(app)
    choose(app, weights="mine")
    assert values(app, "d_model", "n_heads") == {"d_model": 20, "n_heads": 4}
    choose(app, weights="minilm")
    assert values(app) == {key: param.default for key, param in ARCHITECTURE.items()}
    assert "trained weights" in captions(app)
    choose(app, weights="mine")
    assert values(app, "d_model", "n_heads") == {"d_model": 20, "n_heads": 4}
    assert "your own weights" in captions(app)


def test_parameters_are_the_files() -> None:
    weights = own_model()
    app = open_mine(weights, "parameters")
    total = sum(tensor.numel() for tensor in weights.values())
    assert f"{total:,} numbers" in captions(app)
    assert f"{total:,}" in "\n".join([*(metric.value for metric in app.metric), prose(app)])


@pytest.mark.parametrize("page", PAGES)
def test_weights_that_are_not_numbers_are_shown_and_said(page: str) -> None:
    weights = own_model()
    weights["layers.1.ffn.up.weight"][0, 0] = float("nan")
    app = open_mine(weights, page)
    assert ":orange-badge[not finite] layers.1.ffn.up.weight holds NaN" in captions(app)


# --- text and vocabulary


def test_five_words_fit_five_rows_and_six_do_not() -> None:
    app = open_mine(own_model(vocab_size=5), text="this is an example sentence")
    assert not app.error
    assert "5 tokens · 2 layers" in captions(app)
    choose(app, text="this is an example sentence too")
    assert len(app.error) == 1
    assert "word makes 6 different tokens of this, and your file's token table has 5 rows" in sentences(app)
    assert "word with at most 5 different words fits." in sentences(app)


def test_another_tokenizer_that_is_too_large_says_what_fits() -> None:
    app = choose(open_mine(own_model(vocab_size=200), text="any text"), tokenizer="wordpiece")
    assert len(app.error) == 1
    assert "wordpiece makes 30,522 different tokens" in sentences(app)
    assert "word with at most 200 different words or char (97 tokens) fits." in sentences(app)
    assert not choose(app, tokenizer="char").error
    assert "8 tokens · 2 layers" in captions(app)


@pytest.mark.parametrize("page", PAGES)
def test_a_tokenizer_that_is_too_large_ends_no_page_in_an_error(page: str) -> None:
    app = open_mine(own_model(vocab_size=9), page, text="far more different words than the nine that it has rows for")
    choose(app, tokenizer="wordpiece")


# --- links, sessions, limits


def test_a_link_to_own_weights_opens_on_random_ones_of_that_shape() -> None:
    app = open_page(weights="mine", d_model="64", n_heads="4", n_layers="3", tokenizer="char", norm="junk")
    assert values(app, "weights") == {"weights": "mine"}
    assert "A link can't carry a weights file, so these are random weights of its architecture" in sentences(app)
    assert "norm=“junk”" in sentences(app)
    assert ":orange-badge[random weights]" in captions(app)
    assert "3 layers × 4 heads" in captions(app)
    assert not locked(app)


def test_choosing_it_by_hand_needs_no_sentence_about_links() -> None:
    app = choose(open_page(), weights="mine")
    assert sentences(app) == ""
    assert "until a file is open" in captions(app)
    assert "save_file(model.state_dict()" in app.code[0].value


@pytest.mark.parametrize(
    ("button", "after"), [(upload_panel.CLOSE, ":orange-badge[random weights]"), ("reset", "trained weights")]
)
def test_closing_the_file_frees_everything(
    button: str, after: str, passes: list[tuple[Encoder, Run]], n_memory_users: Callable[[], int]
) -> None:
    app = open_mine(own_model())
    encoder = weakref.ref(passes[-1][0])
    passes.clear()
    press(app, button)
    assert (n_memory_users(), encoder()) == (0, None)
    assert uploaded_weights.UPLOAD not in app.session_state
    assert after in captions(app)


def test_another_file_takes_the_place_of_the_first(passes: list[tuple[Encoder, Run]]) -> None:
    app = open_mine(own_model())
    upload(app, save(own_model(n_layers=3)), "other.safetensors")
    assert "“other.safetensors”" in captions(app)
    assert passes[-1][1].config.n_layers == 3


def test_nothing_of_a_visitors_is_shared_and_all_of_it_is_freed(
    passes: list[tuple[Encoder, Run]], n_memory_users: Callable[[], int]
) -> None:
    app = open_mine(own_model())
    app.run()
    n_passes = len(passes)
    clear_session_resource_cache(SESSION)  # what Streamlit does when the session ends
    app.run()
    assert len(passes) == n_passes + 1, "the run was still cached somewhere else"
    assert n_memory_users() == 1
    clear_session_resource_cache(SESSION)
    passes.clear()
    del app
    assert n_memory_users() == 0


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Set the server's settings."""

    def change(**changes: Any) -> None:
        for module in (memory_budget, uploaded_weights, upload_panel):
            monkeypatch.setattr(module, "settings", lambda: Settings(**changes))

    return change


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"max_parameters": 1_000}, "This model has 6,328 parameters, and this server runs at most 1,000"),
        ({"max_own_weights": 1_000}, "This server holds as many visitors' weights as it can right now"),
    ],
)
def test_a_file_over_the_servers_limits_is_refused(
    changes: dict[str, Any], reason: str, limits: Callable[..., None]
) -> None:
    limits(**changes)
    app = upload(open_page(weights="mine"), save(own_model()))
    assert f"“model.safetensors” can't be used. {reason}" in sentences(app)
    assert uploaded_weights.UPLOAD not in app.session_state


def test_a_file_and_its_encoder_are_both_counted(limits: Callable[..., None]) -> None:
    n_bytes = sum(tensor.nbytes for tensor in own_model().values())
    gc.collect()
    before = sum(own.n_bytes for own in memory_budget.memory_users())
    limits(max_own_weights=before + 2 * n_bytes - 1)
    with pytest.raises(WeightsError, match="as many visitors' weights as it can"):
        uploaded_weights.read_upload("one", save(own_model()))
    limits(max_own_weights=before + 2 * n_bytes)
    assert uploaded_weights.read_upload("one", save(own_model())).n_bytes == 2 * n_bytes


def test_of_many_files_at_once_only_as_many_as_fit_are_held(
    limits: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def counted_slowly(_: uploaded_weights.UploadedWeights) -> int:
        time.sleep(0.01)  # time enough for another thread to come between
        return 100

    gc.collect()
    monkeypatch.setattr(uploaded_weights.UploadedWeights, "n_bytes", property(counted_slowly))
    limits(max_own_weights=sum(one.n_bytes for one in memory_budget.memory_users()) + 2 * 100)
    data = save(own_model())

    def open_one(_: int) -> uploaded_weights.UploadedWeights | str:
        try:
            return uploaded_weights.read_upload("one", data)
        except WeightsError as error:
            return str(error)

    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(open_one, range(8)))
    assert sum(isinstance(outcome, uploaded_weights.UploadedWeights) for outcome in outcomes) == 2


def test_a_refused_file_is_not_counted(n_memory_users: Callable[[], int]) -> None:
    with pytest.raises(WeightsError, match="is not a part of this model"):
        uploaded_weights.read_upload("one", save({**own_model(), "head.weight": torch.zeros(2)}))
    assert n_memory_users() == 0


def test_the_servers_copy_of_an_upload_is_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    managers: list[MemoryUploadedFileManager] = []
    add_file = MemoryUploadedFileManager.add_file

    def spied(self: MemoryUploadedFileManager, *args: Any) -> None:
        add_file(self, *args)
        managers.append(self)

    monkeypatch.setattr(MemoryUploadedFileManager, "add_file", spied)
    app = upload(open_page(weights="mine"), b"PK\x03\x04" + bytes(100))
    upload(app, save(own_model()))
    assert len(managers) == 2
    assert not [file for manager in managers for files in manager.file_storage.values() for file in files.values()]


def test_a_file_waits_for_its_turn_but_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_page(weights="mine")
    turns = Turns(n=1, timeout=0.01)
    monkeypatch.setattr(caches, "TURNS", turns)
    with turns.take():
        upload(app, save(own_model()))
    assert "Many people are computing right now; open “model.safetensors” again in a few seconds." in sentences(app)
    assert uploaded_weights.UPLOAD not in app.session_state
    upload(app, save(own_model()))
    assert not app.error


BAD = {
    "a file that can't be read": (b"PK\x03\x04" + bytes(100), "This is a pickle"),
    "another model": (save({"conv1.weight": torch.zeros(3, 3)}), "such as conv1.weight, are of no model"),
    "tensors that don't fit": (
        save({**own_model(), "layers.1.attn.k.weight": torch.zeros(20, 10)}),
        "layers.1.attn.k.weight has shape (20, 10); the model needs (20, 20)",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_can_not_be_used_says_why_and_changes_nothing(name: str) -> None:
    data, reason = BAD[name]
    app = upload(open_page(weights="mine", n_layers="3"), data, "../../<b>.safetensors")
    assert "“../../b.safetensors” can't be used. " in sentences(app)
    assert reason in sentences(app)
    assert values(app)["n_layers"] == 3
    assert ":orange-badge[random weights]" in captions(app)
    upload(app, save(own_model()))
    assert not app.error


def test_the_server_takes_files_as_large_as_can_be_opened(repository: Path) -> None:
    settings = tomllib.loads((repository / ".streamlit" / "config.toml").read_text("utf-8"))
    assert settings["server"]["maxUploadSize"] * 2**20 == MAX_BYTES


@given(chosen=values_of_the_sidebar(), tutorial=st.sampled_from(sorted(FILES)), asked=st.sets(st.sampled_from(LOCKED)))
def test_any_settings_go_together_with_any_file(chosen: dict[str, Any], tutorial: str, asked: set[str]) -> None:
    found = recognise({name: tuple(tensor.shape) for name, tensor in read(FILES[tutorial]).weights.items()})
    chosen = chosen | {"weights": "mine"}
    settled, _ = settle(chosen, asked, recognised=found)
    assert settle(settled, asked, recognised=found) == (settled, [])
    config = model_config(settled, vocab_size=9)
    assert all(getattr(config, key) == known for key, known in found.settings.items() if key != "vocab_size")
    free = found.open_settings.keys() - {"n_heads", "positions"}
    assert {key: settled[key] for key in free} == {key: chosen[key] for key in free}
    away, _ = settle(settled | {"weights": "random"})
    assert all(away[key] in size.options for key, size in SIZES.items())


# --- a folder on the server


def test_a_file_of_the_servers_folder_opens(
    tmp_path: Path, limits: Callable[..., None], passes: list[tuple[Encoder, Run]]
) -> None:
    (tmp_path / "one.safetensors").write_bytes(save(own_model()))
    (tmp_path / "broken.safetensors").write_bytes(b"")
    (tmp_path / "secret.txt").write_text("no weights")
    (tmp_path / "folder.safetensors").mkdir()
    limits(weights_folder=tmp_path)
    app = open_page(weights="mine", text=IDS)
    box = app.selectbox(key=upload_panel.CHOICE)
    assert box.options == ["broken.safetensors", "one.safetensors"]
    choose(box.set_value("one.safetensors").run(), n_heads=4)
    assert "“one.safetensors”" in captions(app)
    assert passes[-1][1].config.d_model == 20
    app.selectbox(key=upload_panel.CHOICE).set_value("broken.safetensors").run()
    assert "“broken.safetensors” can't be used. The file is empty." in sentences(app)
    upload(app, save(own_model()))
    assert app.selectbox(key=upload_panel.CHOICE).value is None
    assert not app.error
    app.selectbox(key=upload_panel.CHOICE).set_value("one.safetensors").run()
    press(app, upload_panel.CLOSE)
    assert app.selectbox(key=upload_panel.CHOICE).value is None
    assert ":orange-badge[random weights]" in captions(app)


def test_without_a_folder_there_is_no_box(limits: Callable[..., None]) -> None:
    limits()
    assert upload_panel.CHOICE not in {box.key for box in open_page(weights="mine").selectbox}
