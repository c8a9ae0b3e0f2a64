"""What the browser draws our components from."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from playground.web import components
from tests.web.app_test import drawn_bars, working


def test_bars_reach_the_browser_as_they_are_and_what_is_no_number_as_none() -> None:
    def script() -> None:
        from playground.charts.chart import LabelledBars
        from playground.web.components import draw_bars

        bars = LabelledBars[None](
            key="some", alt="Bars", caption="", labels=["<b>", "x", "y"], values=[0.5, -1.25, float("nan")],
            colours=["red", "blue", "blue"], texts=["a", "b", "–"], title="part",
        )  # fmt: skip
        draw_bars("some", bars)

    app = working(AppTest.from_function(script).run())
    data = drawn_bars(app)["some"]
    assert data["values"] == [0.5, -1.25, None]
    assert data["labels"] == ["<b>", "x", "y"], "the browser puts them in as text"
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["alt"] == "Bars. The longest bar is b, at x."


FOLDER = Path(components.__file__).parent


@pytest.mark.parametrize("script", sorted(FOLDER.glob("*/*.js")), ids=lambda script: script.stem)
def test_a_component_has_its_files_and_the_helpers(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    declared: dict[str, dict[str, Any]] = {}
    monkeypatch.setattr(st.components.v2, "component", lambda name, **texts: declared.update({name: texts}))
    components.load_component(script.stem)
    texts, source = declared[script.stem], script.read_text(encoding="utf-8")
    assert texts["js"].endswith(source)
    for kind in ("html", "css"):
        file = script.with_suffix(f".{kind}")
        assert texts[kind] == (file.read_text(encoding="utf-8") if file.exists() else None)
    faces = "\n".join(module.read_text(encoding="utf-8") for module in FOLDER.rglob("*.py"))
    assert f'"{script.stem}"' in faces
    helpers = re.findall(r"^const (\w+)", (FOLDER / "elements.js").read_text(encoding="utf-8"), re.MULTILINE)
    assert not set(helpers) & set(re.findall(r"\b(?:const|let|function) (\w+)", source))
