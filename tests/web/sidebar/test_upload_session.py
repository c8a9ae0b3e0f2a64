"""A visitor's own file belongs to one session, within the server's limits; one that can't be used changes nothing."""

import weakref
from collections.abc import Callable
from typing import Any

import pytest
import torch
from safetensors.torch import save
from streamlit.runtime.caching import clear_session_resource_cache
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

from playground import Encoder
from playground.runs.encoder_run import Run
from playground.web.server import Settings
from playground.web.session import own_models
from playground.web.session.services import MemoryBudget, other_services
from playground.web.sidebar import weights_panels
from tests.web.app_test import SESSION, captions, locked, open_page, press, sentences, values
from tests.web.sidebar.own_files import open_mine, own_model, upload


def test_a_link_to_own_weights_opens_on_random_ones_of_that_shape() -> None:
    app = open_page(weights="mine", d_model="64", n_heads="4", n_layers="3", tokenizer="char", norm="junk")
    assert values(app, "weights") == {"weights": "mine"}
    assert "A link can't carry a weights file, so these are random weights of its architecture" in sentences(app)
    assert "norm=“junk”" in sentences(app)
    assert "3 layers × 4 heads" in captions(app)
    assert not locked(app)


def test_closing_the_file_frees_everything(
    passes: list[tuple[Encoder, Run]], n_memory_users: Callable[[], int]
) -> None:
    app = open_mine(own_model())
    encoder = weakref.ref(passes[-1][0])
    passes.clear()
    press(app, weights_panels.CLOSE)
    assert (n_memory_users(), encoder()) == (0, None)
    assert app.session_state[own_models.OWN].upload is None
    assert ":orange-badge[random weights]" in captions(app)


@pytest.mark.long
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


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"max_parameters": 1_000}, "This model has 6,328 parameters, and this server runs at most 1,000"),
        ({"max_own_weights": 1_000}, "This server holds as many visitors' weights as it can right now"),
    ],
)
def test_a_file_over_the_servers_limits_is_refused(changes: dict[str, Any], reason: str) -> None:
    settings = Settings(**changes)
    with other_services(settings=settings, memory=MemoryBudget(settings.max_own_weights)):
        app = upload(open_page(weights="mine"), save(own_model()))
    assert f"“model.safetensors” can't be used. {reason}" in sentences(app)
    assert app.session_state[own_models.OWN].upload is None


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
