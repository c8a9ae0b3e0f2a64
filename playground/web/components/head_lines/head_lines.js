const NEAR = 9 // pixels between a line's middle and a click on it

const path = (d, colour, width) => svgElement("path", { d, stroke: colour, "stroke-width": width })

export default function ({ data: [data], parentElement, setTriggerValue }) {
  const rows = data.names.length
  const lines = data.strokes.map(({ colour, width, edges }) =>
    path(edges.map(([query, key]) => `M0 ${query + 0.5}L1 ${key + 0.5}`).join(""), colour, width))
  const dots = data.names.map((_, row) => `M0 ${row + 0.5}h0M1 ${row + 0.5}h0`).join("")
  const picture = parentElement.querySelector("svg")
  picture.setAttribute("viewBox", `0 0 1 ${Math.max(rows, 1)}`)
  picture.style.height = `${data.row_height * rows}px`
  picture.replaceChildren(...lines, path(dots, data.dots, 5))
  const frame = parentElement.querySelector(".lines")
  frame.style.setProperty("--row-height", `${data.row_height}px`)
  frame.style.setProperty("--colour", data.colour)
  const chosen = data.strokes.find(({ colour }) => colour === data.colour)?.edges[0] ?? []
  const choose = rows => setTriggerValue("clicked", Object.fromEntries(
    Object.entries(rows).map(([name, row]) => [name, data.positions[row]])))
  for (const [side, column] of parentElement.querySelectorAll(".names").entries()) {
    column.replaceChildren(...data.names.map((name, row) => {
      const token = htmlElement("div", row === chosen[side] ? "chosen" : "", name)
      token.onclick = () => choose(side ? { key: row } : { query: row })
      return token
    }))
  }
  // The nearest of all lines: how far each of them is from the click, measured at a right angle to it.
  picture.onclick = event => {
    const { left, top, width } = picture.getBoundingClientRect(), share = (event.clientX - left) / width
    const distances = data.strokes.flatMap(({ edges }) => edges).map(([query, key]) => {
      const rise = (key - query) * data.row_height
      const there = (query + 0.5) * data.row_height + share * rise
      return { query, key, distance: Math.abs(event.clientY - top - there) * width / Math.hypot(width, rise) }
    })
    const nearest = distances.reduce((best, line) => line.distance < best.distance ? line : best, { distance: NEAR })
    if (nearest.distance < NEAR) choose({ query: nearest.query, key: nearest.key })
  }
  frame.setAttribute("aria-label", data.alt)
}
