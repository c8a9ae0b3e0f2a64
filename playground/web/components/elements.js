// Helpers of the scripts that draw. Text reaches the page through `textContent` alone, never as markup.

const DASHES = { solid: "none", dash: "9 6", dot: "2 4", dashdot: "9 4 2 4", longdash: "16 6" } // by the names that Plotly gives them

const htmlElement = (name, className = "", text = "") => {
  const element = document.createElement(name)
  element.className = className
  element.textContent = text
  return element
}

const svgElement = (name, attributes, text = "") => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  element.textContent = text
  return element
}

// A legend's entry: a piece of the line, and its name.
const legendEntry = (tag, { name, colour, dash }) => {
  const entry = htmlElement(tag)
  const sample = svgElement("svg", { class: "sample", width: 26, height: 8, "aria-hidden": "true" })
  const ends = { x1: 0, x2: 26, y1: 4, y2: 4 }
  sample.append(svgElement("line", { ...ends, stroke: colour, "stroke-width": 3, "stroke-dasharray": DASHES[dash] }))
  entry.append(sample, htmlElement("span", "", name))
  return entry
}
