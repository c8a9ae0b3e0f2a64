const DASHES = { solid: "none", dash: "9 6", dot: "2 4", dashdot: "9 4 2 4", longdash: "16 6" } // by the names that Plotly gives them

// A legend's entry: a piece of the line, and its name.
const legendEntry = ({ name, colour, dash }) => {
  const entry = htmlElement("li")
  const sample = svgElement("svg", { class: "sample", width: 26, height: 8, "aria-hidden": "true" })
  const ends = { x1: 0, x2: 26, y1: 4, y2: 4 }
  sample.append(svgElement("line", { ...ends, stroke: colour, "stroke-width": 3, "stroke-dasharray": DASHES[dash] }))
  entry.append(sample, htmlElement("span", "", name))
  return entry
}

export default function ({ data: [data], parentElement }) {
  parentElement.querySelector("ul").replaceChildren(...data.entries.map(({ name, colour, dash, state }) => {
    const entry = legendEntry({ name: state === "coming" ? `${name} (to come)` : name, colour, dash })
    entry.className = state
    return entry
  }))
}
