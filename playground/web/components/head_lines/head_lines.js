const path = (d, colour, width) => svgElement("path", { d, stroke: colour, "stroke-width": width })

export default function ({ data, parentElement }) {
  const rows = data.names.length
  const lines = data.strokes.map(({ colour, width, edges }) =>
    path(edges.map(([query, key]) => `M0 ${query + 0.5}L1 ${key + 0.5}`).join(""), colour, width))
  const dots = data.names.map((_, row) => `M0 ${row + 0.5}h0M1 ${row + 0.5}h0`).join("")
  const picture = parentElement.querySelector("svg")
  picture.setAttribute("viewBox", `0 0 1 ${Math.max(rows, 1)}`)
  picture.style.height = `${data.row_height * rows}px`
  picture.replaceChildren(...lines, path(dots, data.dots, 5))
  parentElement.querySelector(".lines").style.setProperty("--row-height", `${data.row_height}px`)
  for (const column of parentElement.querySelectorAll(".names")) {
    column.replaceChildren(...data.names.map(name => htmlElement("div", "", name)))
  }
  parentElement.querySelector(".lines").setAttribute("aria-label", data.alt)
}
