export default function ({ data, parentElement, setTriggerValue }) {
  const row = parentElement.querySelector(".changes")
  row.style.setProperty("--colour", data.colour)
  const active = parentElement.getRootNode().activeElement
  const focused = active?.closest?.(".change") ? { text: active.dataset.text, part: active.dataset.part } : null
  const button = (part, chip, text) => {
    const made = htmlElement("button", part, text)
    made.type = "button"
    made.dataset.part = part
    made.dataset.text = chip.text
    return made
  }
  row.replaceChildren(...data.chips.map(chip => {
    const one = htmlElement("span", `change ${chip.is_on ? "on" : "off"} ${chip.reason ? "unfit" : ""}`)
    const name = button("name", chip, chip.name)
    name.title = chip.reason || `${chip.title} Press to switch it ${chip.is_on ? "off" : "on"}.`
    name.setAttribute("aria-pressed", chip.is_on)
    name.onclick = () => {
      name.setAttribute("aria-pressed", !chip.is_on) // until the answer comes
      one.className = `change ${chip.is_on ? "off" : "on"}`
      setTriggerValue("switched", chip.text)
    }
    const back = button("back", chip, "✕")
    back.title = "Take this change back"
    back.setAttribute("aria-label", `Take back: ${chip.name}`)
    back.onclick = () => {
      one.hidden = true
      setTriggerValue("taken", chip.text)
    }
    one.append(name, back)
    if (chip.reason) one.append(htmlElement("span", "reason", chip.reason))
    return one
  }))
  if (focused) {
    const same = [...row.querySelectorAll("button")].find(
      each => each.dataset.text === focused.text && each.dataset.part === focused.part,
    )
    same?.focus({ preventScroll: true })
  }
}
