const STATUS = { found: "✓ found", "given up": "shown, not found", tried: "tried", new: "" }

// The exercises, a column a level; from the one that is pointed at, full lines lead to those before it, on which it rests,
// and dashed ones to those behind it. On a phone each level is a list that folds, and the one to go on with is open.
export default function ({ data: [data], parentElement, setTriggerValue }) {
  const frame = parentElement.querySelector(".frame"), lines = frame.querySelector("svg")
  frame.style.setProperty("--colour", data.colours[0])
  frame.style.setProperty("--found", data.colours[1])
  const titles = new Map(data.exercises.map(each => [each.key, each.title]))
  const buttons = new Map()
  const makeButton = exercise => {
    const { key, title, topic, restsOn, status } = exercise
    const button = htmlElement("button", `${status === "found" ? "found" : ""} ${key === data.next ? "next" : ""}`)
    button.type = "button"
    button.dataset.key = key
    const state = [topic, STATUS[status], key === data.next ? "next" : ""].filter(Boolean).join(" · ")
    button.append(htmlElement("span", "", title), htmlElement("span", "about", state))
    if (restsOn.length) button.append(htmlElement("span", "rests", `rests on: ${restsOn.map(each => titles.get(each)).join(", ")}`))
    button.onclick = () => setTriggerValue("opened", key)
    const restingOn = data.exercises.filter(each => each.restsOn.includes(key)).map(each => each.key)
    const near = isNear => () => {
      for (const [other, each] of buttons) {
        each.classList.toggle("before", isNear && (other === key || restsOn.includes(other)))
        each.classList.toggle("behind", isNear && restingOn.includes(other))
      }
      for (const { classList, dataset } of lines.children) {
        classList.toggle("before", isNear && dataset.to === key)
        classList.toggle("behind", isNear && dataset.from === key)
      }
    }
    button.onmouseenter = button.onfocus = near(true)
    button.onmouseleave = button.onblur = near(false)
    buttons.set(key, button)
    return button
  }
  const had = parentElement.getRootNode().activeElement?.dataset.key
  const isOpen = new Map([...frame.querySelectorAll("details")].map(each => [each.dataset.level, each.open]))
  const isWide = () => frame.clientWidth > 640
  const levels = [...new Set(data.exercises.map(each => each.level))].map(level => {
    const column = htmlElement("details"), summary = htmlElement("summary"), list = htmlElement("ul")
    const own = data.exercises.filter(each => each.level === level)
    const n = own.filter(each => each.status === "found").length
    column.dataset.level = level
    column.open = isOpen.get(`${level}`) ?? own.some(each => each.key === data.next)
    summary.append(htmlElement("h2", "", `Level ${level}`), htmlElement("span", "about", `${n} of ${own.length} found`))
    summary.onclick = event => isWide() && event.preventDefault()
    list.append(...own.map(each => {
      const item = htmlElement("li")
      item.append(makeButton(each))
      return item
    }))
    column.append(summary, list)
    return column
  })
  frame.querySelector(".levels").replaceChildren(...levels)
  const draw = () => {
    for (const each of levels) {
      if (isWide()) each.open = true
      each.firstChild.tabIndex = isWide() ? -1 : 0
    }
    const origin = frame.getBoundingClientRect()
    lines.replaceChildren(...data.exercises.flatMap(({ key, restsOn }) => restsOn.map(below => {
      const [from, to] = [below, key].map(each => buttons.get(each).getBoundingClientRect())
      const isSame = Math.abs(from.left - to.left) < 1
      const x1 = (isSame ? from.left : from.right) - origin.left, x2 = to.left - origin.left
      const [y1, y2] = [from, to].map(({ top, height }) => top + height / 2 - origin.top)
      const bend = isSame ? [x1 - 24, x2 - 24] : [(x1 + x2) / 2, (x1 + x2) / 2]
      const line = svgElement("path", { d: `M${x1} ${y1}C${bend[0]} ${y1} ${bend[1]} ${y2} ${x2} ${y2}` })
      Object.assign(line.dataset, { from: below, to: key })
      return line
    })))
  }
  draw()
  if (had) buttons.get(had)?.focus({ preventScroll: true })
  const observer = new ResizeObserver(draw)
  observer.observe(frame)
  return () => observer.disconnect()
}
