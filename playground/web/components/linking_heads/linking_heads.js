const rows = new WeakMap()

// A head's name and weight, above a bar as long as the weight.
const button = (layer, head, weight, text) => {
  const element = htmlElement("button"), words = htmlElement("span", "words"), track = htmlElement("div", "track")
  const bar = htmlElement("div", "bar")
  bar.style.width = `${100 * Math.min(Math.max(weight, 0), 1)}%`
  track.append(bar)
  words.append(htmlElement("span", "", `layer ${layer}, head ${head}`), htmlElement("span", "weight", text))
  element.append(words, track)
  element.setAttribute("aria-label", `Layer ${layer}, head ${head}: weight ${text}`)
  return element
}

export default function ({ data: [data], parentElement, setTriggerValue }) {
  const row = parentElement.querySelector(".heads")
  const state = rows.get(parentElement) ?? moves()
  rows.set(parentElement, state)
  state.take(data.place)
  row.style.setProperty("--focus", data.colours[0])
  row.style.setProperty("--bar", data.colours[1])
  row.setAttribute("aria-label", data.title)
  parentElement.querySelector(".title").textContent = data.title
  const had = [...row.children].indexOf(parentElement.getRootNode().activeElement)
  const buttons = data.heads.map(([layer, head, weight, text]) => {
    const element = button(layer, head, weight, text)
    element.onclick = () => {
      state.send([layer, head])
      frame()
      setTriggerValue("opened", [layer, head])
    }
    return element
  })
  const frame = () => data.heads.forEach(([layer, head], i) => {
    buttons[i].setAttribute("aria-pressed", state.place[0] === layer && state.place[1] === head)
  })
  if (data.all) {
    const all = htmlElement("button", "all", data.all)
    all.onclick = () => setTriggerValue("all", true)
    buttons.push(all)
  }
  for (const each of buttons) each.type = "button"
  row.replaceChildren(...buttons)
  frame()
  if (had >= 0) row.children[had]?.focus({ preventScroll: true })
}
