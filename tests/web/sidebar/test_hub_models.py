"""The operator's list of models on the hub: opened from the sidebar as a visitor's own file is."""

from pathlib import Path

import pytest

from playground.errors import InputError
from playground.web.server import Settings
from playground.web.session import own_models
from playground.web.session.services import other_services
from tests.web.app_test import captions, charts, open_page, sentences, values, working
from tests.weights.hub_cache import NAME, fill, use_cache


def test_a_model_of_the_list_opens_from_the_cache_or_a_sentence_says_why_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = use_cache(tmp_path, monkeypatch)
    with other_services(settings=Settings(hub_models=("a/b", NAME))):
        app = open_page("attention", weights="mine", text="w5 w6 w7 w8 w9 w10")
        working(app.selectbox(key="own_hub_model").set_value(NAME).run())
        assert f"“{NAME}” can't be used. There is no folder {NAME}, downloads are switched off" in sentences(app)
        fill(place)
        working(app.selectbox(key="own_hub_model").set_value(NAME).run())
        assert values(app, "d_model", "n_heads", "n_layers") == {"d_model": 32, "n_heads": 4, "n_layers": 4}
        assert "attention_pattern" in charts(app)
        assert f"**“{NAME}”**: names of bert" in captions(app)
        assert not app.error


def test_nothing_else_is_opened() -> None:
    assert not [box for box in open_page(weights="mine").selectbox if box.key == "own_hub_model"]
    with pytest.raises(InputError, match="does not open that model"):
        own_models.read_hub_model(NAME)
