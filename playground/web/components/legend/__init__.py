"""The legend of several charts beside each other: each line with its name, in rows that wrap on a narrow screen."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from playground.web.components.load_component import load_component

_legend = load_component("legend", draws=True)


@dataclass(frozen=True)
class LegendEntry:
    """One line of the charts: its name, its CSS colour, one of Plotly's dashes, and how far it is."""

    name: str
    colour: str
    dash: str
    state: str
    """`done`, `growing`, or still `coming`."""


def draw_legend(key: str, entries: Sequence[LegendEntry]) -> None:
    """Draw the legend, in a container of its key."""
    _legend(key=key, data={"entries": [asdict(entry) for entry in entries]})
