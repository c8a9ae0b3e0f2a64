const NAMES = { layer: "layer", head: "head", query: "query, the token that asks", key: "key, the token that is asked" }

const ARROWS = {
  ArrowUp: { plain: ["query", -1], shift: ["layer", -1] }, ArrowDown: { plain: ["query", 1], shift: ["layer", 1] },
  ArrowLeft: { plain: ["key", -1], shift: ["head", -1] }, ArrowRight: { plain: ["key", 1], shift: ["head", 1] },
}

const lines = new WeakMap()

export default function ({ data, parentElement, setTriggerValue }) {
  const line = parentElement.querySelector(".line")
  const state = lines.get(parentElement) ?? moves()
  lines.set(parentElement, state)
  state.take(data.places)
  if (state.isAnswered() || !state.touched) state.touched = new Set()

  const word = (place, number) => place === "layer" || place === "head" ? `${place} ${number}` : `${data.tokens[number]} (${number})`
  const show = () => {
    for (const control of line.querySelectorAll("[data-place]")) {
      const { place, by } = control.dataset, at = state.place[place], last = data.counts[place] - 1
      if (by) {
        const isEnd = at + Number(by) < 0 || at + Number(by) > last
        control.setAttribute("aria-label", Number(by) < 0 ? `previous ${place}` : `next ${place}`)
        control.setAttribute("aria-disabled", isEnd)
        continue
      }
      const words = Array.from({ length: last + 1 }, (_, number) => word(place, number))
      if (control.options.length !== words.length || words.some((text, number) => control.options[number].text !== text)) {
        control.replaceChildren(...words.map((text, number) => new Option(text, number)))
      }
      control.setAttribute("aria-label", NAMES[place])
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
    if (!arrow || event.altKey || event.ctrlKey || event.metaKey || event.target.tagName === "SELECT") return
    event.preventDefault()
    move(arrow[0], state.place[arrow[0]] + arrow[1])
  }
  show()
}
