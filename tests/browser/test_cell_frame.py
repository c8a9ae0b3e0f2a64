"""The frame over a chart's cell: by itself, and beside Plotly's tooltip."""

from pathlib import Path

from playwright.sync_api import BrowserContext

import playground.web.components

FOLDER = Path(playground.web.components.__file__).parent

_DRAW_WITHOUT_CHART = """async ([script, markup]) => {
  const { default: draw } = await import(URL.createObjectURL(new Blob([script], { type: "text/javascript" })))
  const parent = document.createElement("div")
  document.createElement("div").attachShadow({ mode: "open" }).append(parent)
  parent.innerHTML = markup
  draw({ data: [{ container: "gone", selected: [0, 0] }], parentElement: parent, setTriggerValue: () => null })
  return parent.querySelector(".frame").hidden
}"""


def test_a_frame_whose_chart_has_left_the_page_stays_hidden_and_raises_nothing(shared_context: BrowserContext) -> None:
    # The front end runs a script when it has been loaded: by then another view may stand in the chart's place.
    helpers, script, markup = (
        (FOLDER / name).read_text(encoding="utf-8")
        for name in ("elements.js", "cell_frame/cell_frame.js", "cell_frame/cell_frame.html")
    )
    page = shared_context.new_page()
    assert page.evaluate(_DRAW_WITHOUT_CHART, [helpers + script, markup])
    page.close()
