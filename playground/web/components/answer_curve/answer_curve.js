const LEFT = 56, RIGHT = 22, TOP = 10, BOTTOM = 40, HEIGHT = 240

const states = new WeakMap()

const written = value => String(Number(value.toPrecision(3)))

// A curve through five handles: a slider each, and the line that follows them.
export default function ({ data: [data], parentElement, setTriggerValue }) {
  const frame = parentElement.querySelector(".frame"), picture = frame.querySelector("svg")
  const list = frame.querySelector(".handles")
  frame.style.setProperty("--colour", data.colour)
  const state = states.get(parentElement) ?? moves()
  states.set(parentElement, state)
  state.take(data.heights)
  const heights = [...state.place]
  const draw = () => {
    const width = picture.clientWidth || 560, last = data.places.at(-1) || 1
    const across = place => LEFT + place / last * (width - LEFT - RIGHT)
    const up = y => HEIGHT - BOTTOM - (y - data.low) / (data.high - data.low) * (HEIGHT - TOP - BOTTOM)
    const drawn = []
    for (const tick of [data.low, (data.low + data.high) / 2, data.high]) {
      drawn.push(svgElement("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: up(tick), y2: up(tick) }))
      drawn.push(svgElement("text", { x: LEFT - 6, y: up(tick) + 4, "text-anchor": "end" }, written(tick)))
    }
    const middle = { "text-anchor": "middle" }
    data.places.forEach((place, i) => {
      drawn.push(svgElement("text", { x: across(place), y: HEIGHT - BOTTOM + 16, ...middle }, data.names[i]))
    })
    drawn.push(svgElement("text", { x: (LEFT + width) / 2, y: HEIGHT - 6, ...middle }, data.titles[0]))
    drawn.push(svgElement("text", { transform: `translate(12 ${(HEIGHT - BOTTOM) / 2}) rotate(-90)`, ...middle }, data.titles[1]))
    const points = heights.map((y, i) => [across(data.places[i]), up(y)])
    drawn.push(svgElement("path", { class: "curve", d: points.map(([x, y], i) => `${i ? "L" : "M"}${x} ${y}`).join("") }))
    drawn.push(...points.map(([cx, cy]) => svgElement("circle", { cx, cy, r: 6 })))
    picture.setAttribute("height", HEIGHT)
    picture.setAttribute("aria-label", `${data.titles[1]}: ${heights.map((y, i) => `${data.names[i]} ${written(y)}`).join(", ")}`)
    picture.replaceChildren(...drawn)
  }
  const had = [...list.querySelectorAll("input")].indexOf(parentElement.getRootNode().activeElement)
  list.replaceChildren(...data.names.map((name, i) => {
    const label = htmlElement("label"), slider = htmlElement("input"), output = htmlElement("output", "", written(heights[i]))
    Object.assign(slider, { type: "range", min: data.low, max: data.high, step: (data.high - data.low) / 100 })
    slider.value = heights[i]
    slider.setAttribute("aria-label", `${data.titles[1]} at ${data.titles[0]} ${name}`)
    slider.oninput = () => {
      heights[i] = Number(slider.value)
      output.textContent = written(heights[i])
      draw()
    }
    slider.onchange = () => {
      state.send([...heights])
      setTriggerValue("drawn", [...heights])
    }
    label.append(htmlElement("span", "", name), slider, output)
    return label
  }))
  if (had >= 0) list.querySelectorAll("input")[had]?.focus({ preventScroll: true })
  draw()
  const observer = new ResizeObserver(draw)
  observer.observe(picture)
  return () => observer.disconnect()
}
