"""Three small drawings of our own: the sentence as chips, the way of the data as boxes, a frame over a thumbnail.

Text reaches the page through `textContent` alone, so that nobody's sentence is ever read as markup.
"""

from collections.abc import Callable, Sequence

import streamlit as st

from playground.accounting.stages import Stage
from playground.figures import palette

_CHIPS_CSS = """
.chips { display: flex; flex-wrap: wrap; gap: .35rem; }
.chip {
  display: flex; flex-direction: column; align-items: center; padding: .15rem .45rem; max-width: 14rem;
  border: 1px solid var(--st-border-color); border-radius: var(--st-base-radius);
  background: var(--st-secondary-background-color); color: var(--st-text-color); line-height: 1.25;
}
.piece { overflow: hidden; text-overflow: ellipsis; white-space: pre; max-width: 100%; }
.id { font-family: var(--st-code-font); font-size: .7em; opacity: .7; }
.special, .padding { border-style: dashed; }
.padding { opacity: .45; }
.unknown { border-color: var(--st-red-color); border-width: 2px; }
"""

_CHIPS_JS = """
export default function ({ data, parentElement }) {
  const row = parentElement.querySelector(".chips")
  row.replaceChildren(...data.chips.map(([piece, id, kind, title]) => {
    const chip = document.createElement("span")
    chip.className = "chip " + kind
    chip.title = title
    for (const [name, text] of [["piece", piece], ["id", id]]) {
      const part = document.createElement("span")
      part.className = name
      part.textContent = text
      chip.append(part)
    }
    return chip
  }))
}
"""

_FLOW_CSS = """
.flow, .block { display: flex; flex-wrap: wrap; align-items: stretch; gap: .5rem 1.1rem; }
.block {
  flex: 4 1 27rem; padding: .3rem .6rem .6rem; position: relative;
  border: 1px dashed var(--st-border-color); border-radius: var(--st-base-radius);
}
.times { flex-basis: 100%; font-size: .8em; opacity: .75; color: var(--st-text-color); margin-bottom: -.3rem; }
button {
  flex: 1 1 5.4rem; padding: .35rem .5rem; position: relative;
  text-align: left; font: inherit; color: var(--st-text-color);
  background: var(--st-secondary-background-color); border: 1px solid var(--st-border-color);
  border-top: 4px solid var(--part); border-radius: var(--st-base-radius); cursor: pointer; line-height: 1.35;
}
button:hover, button:focus-visible { border-color: var(--st-primary-color); border-top-color: var(--part); }
.flow > :not(:first-child)::before, .block > button + button::before {
  content: "→"; position: absolute; left: -1rem; top: 50%; transform: translateY(-50%); opacity: .6;
  color: var(--st-text-color);
}
@media (max-width: 40rem) { .flow > :not(:first-child)::before, .block > button + button::before { content: none; } }
strong { display: block; font-weight: 600; }
span { display: block; font-size: .78em; opacity: .8; }
"""

_FLOW_JS = """
export default function ({ data, parentElement, setTriggerValue }) {
  const box = ({ title, lines, colour, page, door }) => {
    const button = document.createElement("button")
    button.type = "button"
    button.style.setProperty("--part", colour)
    button.title = door
    const name = document.createElement("strong")
    name.textContent = title
    button.append(name)
    for (const line of lines) {
      const span = document.createElement("span")
      span.textContent = line
      button.append(span)
    }
    button.onclick = () => setTriggerValue("open", page)
    return button
  }
  const block = document.createElement("div")
  block.className = "block"
  const times = document.createElement("div")
  times.className = "times"
  times.textContent = data.times
  block.append(times, ...data.block.map(box))
  parentElement.querySelector(".flow").replaceChildren(...data.before.map(box), block, ...data.after.map(box))
}
"""

_FRAME_JS = """
const watching = new WeakMap()

export default function ({ data, parentElement }) {
  const grid = parentElement.getRootNode().host.closest(`.st-key-${data.container}`)
  const place = () => {
    const picture = grid.querySelector(".nsewdrag")
    const holder = picture?.closest(".svg-container")
    if (!holder) return
    let frame = holder.querySelector(":scope > .head-frame")
    if (!frame) {
      frame = document.createElement("div")
      frame.className = "head-frame"
      holder.append(frame)
    }
    const inner = picture.getBoundingClientRect(), outer = holder.getBoundingClientRect()
    const width = inner.width / data.heads, height = inner.height / data.layers
    Object.assign(frame.style, {
      position: "absolute", pointerEvents: "none", boxSizing: "border-box", border: `3px solid ${data.colour}`,
      left: `${inner.left - outer.left + data.head * width - 2}px`, width: `${width + 2}px`,
      top: `${inner.top - outer.top + data.layer * height - 2}px`, height: `${height + 2}px`,
    })
  }
  watching.get(parentElement)?.disconnect()
  const watch = new MutationObserver(() => requestAnimationFrame(place))
  watch.observe(grid, { subtree: true, childList: true, attributes: true, attributeFilter: ["width", "height"] })
  watching.set(parentElement, watch)
  place()
  return () => watch.disconnect()
}
"""

_chips = st.components.v2.component("token_chips", html='<div class="chips"></div>', css=_CHIPS_CSS, js=_CHIPS_JS)
_flow = st.components.v2.component("data_flow", html='<div class="flow"></div>', css=_FLOW_CSS, js=_FLOW_JS)

_frame = st.components.v2.component("head_frame", js=_FRAME_JS)

DOORS = {"embeddings": "parameters", "attention": "attention", "feed_forward": "parameters", "norms": "norms"}
"""The page that opens up each part of the model."""


def token_chips(chips: Sequence[tuple[str, str, str, str]]) -> None:
    """Draw tokens as chips: (piece, id, kind, explanation), kind being `plain`, `special`, `unknown` or `padding`."""
    _chips(key="token_chips", data={"chips": [list(chip) for chip in chips]})


def head_frame(container: str, selected: tuple[int, int], n_layers: int, n_heads: int) -> None:
    """Frame one thumbnail of a grid of heads, without drawing or sending the thumbnails again.

    Args:
        container: the key of the grid's container, inside which this is called.
        selected: the layer and head to frame.
        n_layers: the grid's rows.
        n_heads: its columns; all of its thumbnails are equally large.
    """
    place = {"layer": selected[0], "head": selected[1], "layers": n_layers, "heads": n_heads}
    _frame(key=f"{container}_frame", data={**place, "container": container, "colour": palette.FEED_FORWARD})


def data_flow(stages: Sequence[Stage], n_layers: int, on_open: Callable[[], None]) -> None:
    """Draw the way of the data; `on_open` runs when a box is pressed, its page in the state of `data_flow`."""
    inside = [i for i, stage in enumerate(stages) if stage.in_block]
    boxes = [_box(stage) for stage in stages]
    _flow(
        key="data_flow",
        data={
            "before": boxes[: inside[0]],
            "block": boxes[inside[0] : inside[-1] + 1],
            "after": boxes[inside[-1] + 1 :],
            "times": f"{n_layers} blocks, one after the other" if n_layers > 1 else "1 block",
        },
        on_open_change=on_open,
    )


def _box(stage: Stage) -> dict[str, object]:
    page = "attention" if stage.component is None else DOORS[stage.component]
    lines = [stage.shape]
    if stage.parameters:
        lines.append(f"{stage.parameters:,} params")
    if stage.share:
        lines.append(f"{stage.share:.0%} of the work")
    colour = palette.COMPONENTS[stage.component] if stage.component else palette.RESIDUAL
    return {"title": stage.title, "lines": lines, "colour": colour, "page": page, "door": f"Open the {page} page"}
