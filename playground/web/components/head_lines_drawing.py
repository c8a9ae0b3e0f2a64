"""A head's lines as a drawing of our own: two columns of tokens, and nothing but SVG lines between them.

Plotly needs several passes over a chart, each of which measures every token on it; that took longer than all else on
the page. Text reaches the page through `textContent` alone, so that nobody's sentence is ever read as markup.
"""

from dataclasses import asdict

import streamlit as st

from playground.figures import palette
from playground.figures.head_lines import Lines

_HTML = """
<div class="lines" role="figure">
  <div class="title left">query: who asks</div><div></div><div class="title">key: attended to</div>
  <div class="names left"></div><svg preserveAspectRatio="none" aria-hidden="true"></svg><div class="names"></div>
</div>
"""

_CSS = """
.lines {
  display: grid; grid-template-columns: minmax(6.5rem, 1fr) minmax(6rem, 3fr) minmax(6.5rem, 1fr); column-gap: .6rem;
  font-size: .8rem; color: var(--st-text-color);
}
.title { opacity: .75; padding-bottom: .25rem; }
.left { text-align: right; }
.names > div { height: 22px; line-height: 22px; overflow: hidden; white-space: pre; }
svg { width: 100%; overflow: visible; }
path { fill: none; stroke-linecap: round; vector-effect: non-scaling-stroke; }
"""

_JS = """
const SVG = "http://www.w3.org/2000/svg"
const ROW = 22

export default function ({ data, parentElement }) {
  const draw = (d, colour, width) => {
    const path = document.createElementNS(SVG, "path")
    path.setAttribute("d", d)
    path.setAttribute("stroke", colour)
    path.setAttribute("stroke-width", width)
    return path
  }
  const rows = data.names.length
  const lines = data.strokes.map(({ colour, width, edges }) =>
    draw(edges.map(([query, key]) => `M0 ${query + 0.5}L1 ${key + 0.5}`).join(""), colour, width))
  const dots = data.names.map((_, row) => `M0 ${row + 0.5}h0M1 ${row + 0.5}h0`).join("")
  const picture = parentElement.querySelector("svg")
  picture.setAttribute("viewBox", `0 0 1 ${Math.max(rows, 1)}`)
  picture.style.height = `${ROW * rows}px`
  picture.replaceChildren(...lines, draw(dots, data.dots, 5))
  for (const column of parentElement.querySelectorAll(".names")) {
    column.replaceChildren(...data.names.map(name => {
      const row = document.createElement("div")
      row.textContent = name
      return row
    }))
  }
  parentElement.querySelector(".lines").setAttribute("aria-label", data.alt)
}
"""

_lines = st.components.v2.component("head_lines", html=_HTML, css=_CSS, js=_JS)


def line_drawing(key: str, lines: Lines, *, caption: str, alt: str) -> None:
    """Draw a head's lines in a container of its name, with one caption on how to read them.

    Args:
        key: the container's.
        lines: what to draw.
        caption: how to read it.
        alt: what it shows, for those who can't see it.
    """
    with st.container(key=key):
        _lines(key=f"{key}_drawing", data={**asdict(lines), "dots": palette.ATTENTION, "alt": alt})
        st.caption(caption)
