const LEFT = 56, RIGHT = 22, TOP = 8, BOTTOM = 42

const CROSS = "M-5 -5L5 5M-5 5L5 -5"

const roundTicks = (low, high, most) => {  // 1, 2 or 5 times a power of ten apart
  const least = (high - low) / most, power = 10 ** Math.floor(Math.log10(least))
  const step = power * [1, 2, 5, 10].find(factor => factor * power >= least)
  const ticks = []
  for (let tick = Math.ceil(low / step); tick * step <= high * (1 + 1e-9); tick++) ticks.push(tick * step)
  return ticks
}

const logTicks = (low, high) => {
  const ticks = [], every = Math.max(1, Math.ceil(Math.log10(high / low) / 5)) // as many labels as have room
  for (let power = every * Math.floor(Math.log10(low) / every); 10 ** power <= high; power += every) {
    for (const factor of high / low < 100 ? [1, 2, 5] : [1]) ticks.push(factor * 10 ** power)
  }
  return ticks.filter(tick => low <= tick && tick <= high)
}

// The ends of the vertical axis: those that are given, or those of all values, from 0 where it is not logarithmic.
const endsOf = ({ lines, log, y }) => {
  if (y) return y
  const values = lines.flatMap(line => line.y).filter(value => !log || value > 0)
  if (!values.length) return [0.1, 1]
  const high = Math.max(...values), low = log ? Math.min(...values) : 0
  return [low, high > low ? high : low * 1.1 + 1e-9]
}

export default function ({ data: [data], parentElement }) {
  const picture = parentElement.querySelector("svg[role=figure]"), legend = parentElement.querySelector(".legend")
  const named = data.legend ? data.lines.filter(line => line.name) : []
  legend.replaceChildren(...named.map(line => legendEntry("span", line)))
  const width = picture.clientWidth || 560, height = data.height - legend.offsetHeight
  const [low, high] = endsOf(data), [first, last] = data.x
  const scaled = data.log ? Math.log10 : value => value
  const across = x => LEFT + (x - first) / (last - first) * (width - LEFT - RIGHT)
  const up = y =>
    height - BOTTOM - (scaled(y) - scaled(low)) / (scaled(high) - scaled(low)) * (height - TOP - BOTTOM)
  const written = value => data.percent ? `${Math.round(100 * value)}%` : String(Number(value.toPrecision(3)))

  const drawn = []
  for (const tick of data.log ? logTicks(low, high) : roundTicks(low, high, data.percent ? 6 : 5)) {
    drawn.push(svgElement("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: up(tick), y2: up(tick) }))
    drawn.push(svgElement("text", { x: LEFT - 6, y: up(tick) + 4, "text-anchor": "end" }, written(tick)))
  }
  for (const tick of roundTicks(Math.max(0, first), last, 7)) {
    drawn.push(svgElement("text", { x: across(tick), y: height - BOTTOM + 16, "text-anchor": "middle" }, String(tick)))
  }
  const middle = (height - BOTTOM + TOP) / 2, centred = { "text-anchor": "middle" }
  drawn.push(svgElement("text", { x: (LEFT + width) / 2, y: height - 6, ...centred }, data.titles[0]))
  drawn.push(svgElement("text", { transform: `translate(12 ${middle}) rotate(-90)`, ...centred }, data.titles[1]))

  for (const { x, y, colour, width: thickness, dash, dots, cross, note } of data.lines) {
    const points = x.map((each, i) => [across(each), up(y[i])]).filter(point => point.every(Number.isFinite))
    const d = points.map(([right, down], i) => `${i ? "L" : "M"}${right.toFixed(1)} ${down.toFixed(1)}`).join("")
    const stroke = { stroke: colour, "stroke-width": thickness, "stroke-dasharray": DASHES[dash] }
    drawn.push(svgElement("path", { class: "curve", d, ...stroke }))
    if (dots) drawn.push(...points.map(([cx, cy]) => cross
      ? svgElement("path", { class: "cross", d: CROSS, transform: `translate(${cx} ${cy})`, stroke: colour })
      : svgElement("circle", { cx, cy, r: 3, fill: colour })))
    const end = points.at(-1)
    if (note && end) { // on the side that has room
      const anchor = end[0] < width / 2 ? "start" : "end"
      drawn.push(svgElement("text", { x: end[0], y: end[1] - (cross ? 10 : 6), "text-anchor": anchor }, note))
    }
  }
  picture.setAttribute("height", height)
  picture.setAttribute("aria-label", data.alt)
  picture.replaceChildren(...drawn)
}
