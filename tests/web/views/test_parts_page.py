"""The page Parts as a visitor has it: a link's cell, its sentence, and the button that opens its encoder."""

from unittest.mock import ANY, Mock

import pytest

from playground.language import family
from playground.language.capabilities import CAPABILITIES
from playground.language.family import SEEDS, Row
from playground.language.network import EnglishNetwork, Spec
from playground.views import parts as view
from tests.web.app_test import charts, open_page, press, words


@pytest.fixture
def choose_english(monkeypatch: pytest.MonkeyPatch) -> Mock:
    """What the button calls; every encoder of the table is untrained and gets each capability right."""
    row = Row(dict.fromkeys(CAPABILITIES, 1.0), "")
    rows = {spec.key: row for spec in family.measured_specs() if spec.seed in SEEDS}
    monkeypatch.setattr(family, "table", lambda: rows)
    monkeypatch.setattr(view, "is_shipped", lambda _: True)

    def load(spec: Spec) -> EnglishNetwork:
        return EnglishNetwork(spec, spec.build().requires_grad_(False), {})

    monkeypatch.setattr(view, "load_shipped", load)
    opened = Mock()
    monkeypatch.setattr("playground.web.choices.shortcuts.choose_english", opened)
    return opened


def test_a_links_cell_has_a_sentence_and_its_encoder_is_opened(choose_english: Mock) -> None:
    app = open_page("parts", parts_row=12, parts_column=0)
    assert "capability_table" in charts(app)
    assert "**no positions, is or are:** 1.00 (1.00–1.00) right" in words(app)
    assert "[MASK]" in words(app)
    press(app, "parts_open")
    choose_english.assert_called_once_with(positions="none", text=ANY, mask=ANY)
