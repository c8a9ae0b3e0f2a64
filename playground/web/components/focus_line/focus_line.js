const LABEL = "What every page looks at. Arrow keys move the query and the key, with Shift the layer and the head. " +
  "Layers, heads and tokens count from 0."

const NAMES = { layer: "layer", head: "head", query: "query, the token that asks", key: "key, the token that is asked" }

const ARROWS = {
  ArrowUp: { plain: ["query", -1], shift: ["layer", -1] }, ArrowDown: { plain: ["query", 1], shift: ["layer", 1] },
  ArrowLeft: { plain: ["key", -1], shift: ["head", -1] }, ArrowRight: { plain: ["key", 1], shift: ["head", 1] },
}

const lines = new WeakMap()

// A list of all that there is, between a button to the one before and a button to the next.
const controls = place => {
  const button = (sign, by, name) => {
    const element = htmlElement("button", "", sign)
    element.type = "button"
    element.setAttribute("aria-label", `${name} ${place}`)
    Object.assign(element.dataset, { place, by })
    return element
  }
  const list = htmlElement("select")
  list.setAttribute("aria-label", NAMES[place])
  list.dataset.place = place
  return [button("‹", -1, "previous"), list, button("›", 1, "next")]
}

export default function ({ data: [data], parentElement, setTriggerValue }) {
  const line = parentElement.querySelector(".line")
  const state = lines.get(parentElement) ?? moves()
  lines.set(parentElement, state)
  state.take(data.places)
  if (state.isAnswered() || !state.touched) state.touched = new Set()

  line.setAttribute("aria-label", LABEL)
  line.title = LABEL
  for (const field of line.querySelectorAll(".field:empty")) field.append(...controls(field.dataset.holds))
  for (const field of line.querySelectorAll(".field")) field.hidden = !data.shown.includes(field.dataset.holds)
  line.querySelector(".arrow").hidden = !data.shown.includes("key")
  const isToken = { query: true, key: true }
  const word = (place, number) => isToken[place] ? `${data.tokens[number]} (${number})` : `${place} ${number}`
  const show = () => {
    for (const control of line.querySelectorAll("[data-place]")) {
      const { place, by } = control.dataset, at = state.place[place], last = data.counts[place] - 1
      if (by) {
        const isEnd = at + Number(by) < 0 || at + Number(by) > last
        control.setAttribute("aria-disabled", isEnd)
        continue
      }
      const words = Array.from({ length: last + 1 }, (_, number) => word(place, number)), options = control.options
      if (options.length !== words.length || words.some((text, number) => options[number].textContent !== text)) {
        control.replaceChildren(...words.map((text, number) => new Option(text, number)))
      }
      control.value = at
    }
    line.querySelector(".weight").textContent = state.isAnswered() ? data.weight : "…"
    line.querySelector(".note").textContent = data.note
  }
  const move = (place, number) => {
    const inside = Math.min(Math.max(number, 0), data.counts[place] - 1)
    if (inside === state.place[place]) return
    state.send({ ...state.place, [place]: inside })
    state.touched.add(place) // the others stay what was asked for, which may be more than this model has
    show()
    setTriggerValue("moved", Object.fromEntries([...state.touched].map(each => [each, state.place[each]])))
  }
  line.style.setProperty("--colour", data.colour)
  line.onclick = event => {
    const { place, by } = event.target.dataset
    if (by) move(place, state.place[place] + Number(by))
  }
  line.onchange = event => move(event.target.dataset.place, Number(event.target.value))
  line.onkeydown = event => {
    const arrow = ARROWS[event.key]?.[event.shiftKey ? "shift" : "plain"]
    if (!data.shown.includes(arrow?.[0]) || event.altKey || event.ctrlKey || event.metaKey || event.target.tagName === "SELECT") return
    event.preventDefault()
    move(arrow[0], state.place[arrow[0]] + arrow[1])
  }
  show()
}
