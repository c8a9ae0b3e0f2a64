"""Every component is declared with the files of its folder."""

import re
from pathlib import Path
from typing import Any

import pytest
import streamlit as st

from playground.web.components import load_component as loader

FOLDER = Path(loader.__file__).parent
HELPERS = re.findall(r"^const (\w+)", (FOLDER / "elements.js").read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("script", sorted(FOLDER.glob("*/*.js")), ids=lambda script: script.stem)
def test_a_component_has_its_files_and_the_helpers_that_it_calls(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    declared: dict[str, dict[str, Any]] = {}
    monkeypatch.setattr(st.components.v2, "component", lambda name, **texts: declared.update({name: texts}))
    faces = "\n".join(module.read_text(encoding="utf-8") for module in FOLDER.rglob("*.py"))
    ((name, options),) = re.findall(rf'= load_component\("({script.stem})"(.*)\)', faces)
    loader.load_component(name, draws="draws=True" in options)
    texts, source = declared[script.stem], script.read_text(encoding="utf-8")
    assert texts["js"].endswith(source)
    for kind in ("html", "css"):
        file = script.with_suffix(f".{kind}")
        assert texts[kind] == (file.read_text(encoding="utf-8") if file.exists() else None)
    called = [helper for helper in HELPERS if re.search(rf"\b{helper}\b", source)]
    assert bool(called) == ("draws=True" in options)
