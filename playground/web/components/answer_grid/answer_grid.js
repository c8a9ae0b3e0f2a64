const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }

const states = new WeakMap()

// Blank cells, one of which is the answer: rows and columns with names, or a row of named places.
export default function ({ data: [data], parentElement, setTriggerValue }) {
  const frame = parentElement.querySelector(".frame"), table = frame.querySelector("table")
  const list = frame.querySelector(".places")
  frame.style.setProperty("--colour", data.colour)
  const state = states.get(parentElement) ?? moves()
  states.set(parentElement, state)
  state.take(data.place)
  const isTable = data.columns.length > 0
  const had = parentElement.getRootNode().activeElement?.dataset.place
  const buttons = new Map()
  const mark = () => {
    const chosen = JSON.stringify(state.place)
    const stop = buttons.has(chosen) ? chosen : buttons.keys().next().value // one stop for all; arrow keys go on from it
    for (const [place, button] of buttons) {
      button.setAttribute("aria-pressed", place === chosen)
      button.tabIndex = place === stop ? 0 : -1
    }
  }
  const choose = place => {
    state.send(place)
    mark()
    setTriggerValue("chosen", place)
  }
  const makeButton = (place, name, text = "") => {
    const button = htmlElement("button", "", text)
    button.type = "button"
    button.dataset.place = JSON.stringify(place)
    button.setAttribute("aria-label", name)
    button.title = name
    button.onclick = () => choose(place)
    buttons.set(button.dataset.place, button)
    return button
  }
  frame.onkeydown = event => {
    const step = STEPS[event.key], place = event.target.dataset?.place
    if (!step || !place || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    const from = JSON.parse(place)
    const to = isTable ? [from[0] + step[0], from[1] + step[1]] : [from[0] + step[0] + step[1]]
    buttons.get(JSON.stringify(to))?.focus()
  }
  if (isTable) {
    const head = htmlElement("tr"), title = htmlElement("th", "title", data.titles.filter(Boolean).join(" ↓ → "))
    const headers = data.columns.map(name => {
      const header = htmlElement("th", "column")
      header.scope = "col"
      header.append(htmlElement("span", "", name))
      return header
    })
    head.append(title, ...headers)
    const rows = data.rows.map((name, row) => {
      const line = htmlElement("tr"), header = htmlElement("th", "row", name)
      header.scope = "row"
      line.append(header, ...data.columns.map((column, i) => {
        const cell = htmlElement("td")
        cell.append(makeButton([row, i], `${name}, ${column}`))
        return cell
      }))
      return line
    })
    table.replaceChildren(head, ...rows)
  } else {
    list.setAttribute("aria-label", data.titles[0] || "places")
    list.replaceChildren(...data.rows.map((name, row) => makeButton([row], name, name)))
  }
  table.hidden = !isTable
  list.hidden = isTable
  mark()
  if (had) buttons.get(had)?.focus({ preventScroll: true })
}
