"""Pages of a small encoder at a chosen cell, for tests of what they show of the pinned settings."""

from typing import Any

from streamlit.testing.v1 import AppTest

from tests.web.app_test import SMALL, open_page, without_error

TEXT = "abcab"
PLACE = {"layer": 1, "head": 2, "query": 3, "key": 1}
OTHER_TOKENS = "read other tokens"


def page(name: str, **query: object) -> AppTest:
    """The page, drawn without an error."""
    return without_error(open_page(name, **SMALL | {"text": TEXT} | PLACE | query))


def colour_ends(traces: list[dict[str, Any]]) -> tuple[float, float]:
    """The numbers at both ends of a heatmap's colours."""
    return traces[0]["zmin"], traces[0]["zmax"]
