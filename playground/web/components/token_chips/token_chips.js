const ARROWS = { ArrowLeft: -1, ArrowRight: 1 }

const chosen = new WeakMap()

export default function ({ data: [data], parentElement, setTriggerValue }) {
  const row = parentElement.querySelector(".chips")
  row.style.setProperty("--colour", data.colour)
  const state = chosen.get(parentElement) ?? moves()
  chosen.set(parentElement, state)
  state.take(data.query)
  const isButton = position => data.opens && data.chips[position]?.[2] !== "padding"
  const hadFocus = parentElement.getRootNode().activeElement?.matches(".chip")
  const frame = () => {
    for (const [position, chip] of [...row.children].entries()) {
      chip.classList.toggle("query", position === state.place)
      chip.classList.toggle("key", position === data.key)
      if (!isButton(position)) continue
      chip.setAttribute("aria-pressed", position === state.place)
      chip.tabIndex = position === state.place ? 0 : -1 // one stop for all, the arrow keys go on from there
    }
  }
  const choose = position => {
    if (!isButton(position) || position === state.place) return
    state.send(position)
    frame()
    row.children[position].focus({ preventScroll: true })
    setTriggerValue("clicked", position)
  }
  row.replaceChildren(...data.chips.map(([piece, id, kind, title], position) => {
    const chip = htmlElement(isButton(position) ? "button" : "span", `chip ${kind}`)
    chip.title = title
    chip.append(htmlElement("span", "piece", piece), htmlElement("span", "id", id))
    if (isButton(position)) {
      chip.type = "button"
      chip.onclick = () => choose(position)
    }
    return chip
  }))
  row.onkeydown = event => {
    if (!ARROWS[event.key] || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    choose(state.place + ARROWS[event.key])
  }
  frame()
  if (hadFocus) row.children[state.place]?.focus({ preventScroll: true })
}
