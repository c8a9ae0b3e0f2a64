"""Curves that grow, as a drawing of our own: Plotly's chart is made anew, and blinks, whenever its data change.

It shows a figure of lines as it is at the moment, at the same size; at rest, Plotly shows the same figure, and its
values where the pointer is. Text reaches the page through `textContent` alone.
"""

import math
from typing import Any

import plotly.graph_objects as go
import streamlit as st

_HTML = '<div class="legend" aria-hidden="true"></div><svg role="figure"></svg>'

_CSS = """
.legend { display: flex; flex-wrap: wrap; gap: 0 1rem; height: 1.7rem; overflow: hidden; padding-left: 3rem; }
.legend:empty { display: none; }
.legend, text { font-family: var(--st-font); font-size: 12px; color: var(--st-text-color); fill: currentColor; }
.legend > span::before { content: "━ "; color: var(--line); }
text { opacity: .7; }
svg { display: block; width: 100%; }
.grid { stroke: var(--st-border-color); }
.curve { fill: none; stroke-linejoin: round; }
"""

_JS = """
const SVG = "http://www.w3.org/2000/svg"
const DASHES = { dash: "9 6", dot: "2 4", dashdot: "9 4 2 4" }
const LEFT = 56, RIGHT = 8, TOP = 8, BOTTOM = 42

const shape = (name, attributes, text) => {
  const element = document.createElementNS(SVG, name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  if (text !== undefined) element.textContent = text
  return element
}

const even = (low, high, most) => {  // round numbers, 1, 2 or 5 times a power of ten apart
  const least = (high - low) / most, power = 10 ** Math.floor(Math.log10(least))
  const step = power * [1, 2, 5, 10].find(factor => factor * power >= least)
  const ticks = []
  for (let tick = Math.ceil(low / step); tick * step <= high * (1 + 1e-9); tick++) ticks.push(tick * step)
  return ticks
}

const decades = (low, high) => {
  const ticks = []
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power++) {
    for (const factor of high / low < 100 ? [1, 2, 5] : [1]) ticks.push(factor * 10 ** power)
  }
  return ticks.filter(tick => low <= tick && tick <= high)
}

export default function ({ data, parentElement }) {
  const picture = parentElement.querySelector("svg"), legend = parentElement.querySelector(".legend")
  const width = picture.clientWidth || 560, height = data.height - (data.legend ? 27 : 0)
  const values = data.lines.flatMap(line => line.y).filter(value => !data.log || value > 0)
  const most = Math.max(...values, -Infinity), least = data.log ? Math.min(...values, Infinity) : 0
  const fits = values.length ? [least, most > least ? most : least * 1.1 + 1e-9] : [0.1, 1]
  const [low, high] = data.y ?? fits, [first, last] = data.x
  const bend = data.log ? Math.log10 : value => value
  const across = x => LEFT + (x - first) / (last - first) * (width - LEFT - RIGHT)
  const up = y => height - BOTTOM - (bend(y) - bend(low)) / (bend(high) - bend(low)) * (height - TOP - BOTTOM)
  const named = value => data.percent ? `${Math.round(100 * value)}%` : String(Number(value.toPrecision(3)))

  const drawn = []
  for (const tick of data.log ? decades(low, high) : even(low, high, 5)) {
    drawn.push(shape("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: up(tick), y2: up(tick) }))
    drawn.push(shape("text", { x: LEFT - 6, y: up(tick) + 4, "text-anchor": "end" }, named(tick)))
  }
  for (const tick of even(Math.max(0, first), last, 7)) {
    drawn.push(shape("text", { x: across(tick), y: height - BOTTOM + 16, "text-anchor": "middle" }, String(tick)))
  }
  const middle = (height - BOTTOM + TOP) / 2, centred = { "text-anchor": "middle" }
  drawn.push(shape("text", { x: (LEFT + width) / 2, y: height - 6, ...centred }, data.titles[0]))
  drawn.push(shape("text", { transform: `translate(12 ${middle}) rotate(-90)`, ...centred }, data.titles[1]))
  for (const { x, y, colour, width: thick, dash, dots, note } of data.lines) {
    const points = x.map((each, i) => [across(each), up(y[i])]).filter(point => point.every(Number.isFinite))
    const d = points.map(([right, down], i) => `${i ? "L" : "M"}${right.toFixed(1)} ${down.toFixed(1)}`).join("")
    const dashes = DASHES[dash] ?? "none"
    drawn.push(shape("path", { class: "curve", d, stroke: colour, "stroke-width": thick, "stroke-dasharray": dashes }))
    if (dots) drawn.push(...points.map(([cx, cy]) => shape("circle", { cx, cy, r: 3, fill: colour })))
    const end = points.at(-1)
    if (note && end) drawn.push(shape("text", { x: end[0], y: end[1] - 6, "text-anchor": "end" }, note))
  }
  picture.setAttribute("height", height)
  picture.setAttribute("aria-label", data.alt)
  picture.replaceChildren(...drawn)
  legend.replaceChildren(...(data.legend ? data.lines.filter(line => line.name) : []).map(({ name, colour }) => {
    const entry = document.createElement("span")
    entry.style.setProperty("--line", colour)
    entry.textContent = name
    return entry
  }))
}
"""

_curves = st.components.v2.component("curves", html=_HTML, css=_CSS, js=_JS)


def curve_drawing(key: str, figure: go.Figure, *, caption: str, alt: str) -> None:
    """Draw a figure of lines in a container of its name, with one caption on how to read it, as `panels.chart` does."""
    with st.container(key=key):
        _curves(key=f"{key}_drawing", data={**described(figure), "alt": alt})
        st.caption(caption)


def described(figure: go.Figure) -> dict[str, Any]:
    """What of a figure the drawing needs, in four digits, which is finer than it can be seen."""
    x, y = figure.layout.xaxis, figure.layout.yaxis
    return {
        "lines": [_line(trace) for trace in figure.data],
        "x": list(x.range),
        "y": None if y.range is None else list(y.range),
        "titles": [x.title.text, y.title.text],
        "log": y.type == "log",
        "percent": "%" in (y.tickformat or ""),
        "height": figure.layout.height,
        "legend": bool(figure.layout.showlegend),
    }


def _line(trace: go.Scatter) -> dict[str, Any]:
    """One line, without the points that are no finite numbers: the browser's JSON knows none."""
    points = [(_short(x), _short(y)) for x, y in zip(trace.x, trace.y, strict=True) if math.isfinite(y)]
    return {
        "x": [x for x, _ in points],
        "y": [y for _, y in points],
        "name": trace.name if trace.showlegend is not False else None,
        "colour": trace.line.color,
        "width": trace.line.width,
        "dash": trace.line.dash or "solid",
        "dots": "markers" in trace.mode,
        "note": trace.text[-1] if trace.text is not None else None,
    }


def _short(value: float) -> float:
    return float(f"{value:.4g}")
