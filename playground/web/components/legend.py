"""What the lines of several charts stand for: each line with its name, in rows that wrap on a narrow screen."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import streamlit as st

from playground.figures.ablation import Line


@dataclass(frozen=True)
class Entry:
    """A line's name, and whether it is drawn already, growing now, or still to come."""

    name: str
    line: Line
    state: str


_CSS = """
ul { display: flex; flex-wrap: wrap; gap: .15rem 1.1rem; margin: 0; padding: 0; list-style: none; font-size: .87em; }
li { display: flex; align-items: center; gap: .4rem; color: var(--st-text-color); line-height: 1.5; }
.coming { opacity: .45; }
.growing { font-weight: 600; }
"""

_JS = """
const SPACES = { solid: "", dash: "7 4", dot: "2 3", dashdot: "7 3 2 3" }

export default function ({ data, parentElement }) {
  const drawing = (name, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name)
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
    return element
  }
  parentElement.querySelector("ul").replaceChildren(...data.entries.map(({ name, line, state }) => {
    const item = document.createElement("li")
    item.className = state
    const picture = drawing("svg", { width: 26, height: 8, "aria-hidden": "true" })
    const dashes = SPACES[line.dash]
    picture.append(drawing("line", {
      x1: 0, x2: 26, y1: 4, y2: 4, stroke: line.colour, "stroke-width": 3, "stroke-dasharray": dashes,
    }))
    const text = document.createElement("span")
    text.textContent = state === "coming" ? name + " (to come)" : name
    item.append(picture, text)
    return item
  }))
}
"""

_key = st.components.v2.component("line_key", html="<ul></ul>", css=_CSS, js=_JS)


def line_key(key: str, entries: Sequence[Entry]) -> None:
    """Draw the key of the charts beside it."""
    _key(key=key, data={"entries": [asdict(entry) for entry in entries]})
