const SHOWN = 6 // chips that are seen while the others are folded away

export default function ({ data: [data], parentElement, setTriggerValue }) {
  const row = parentElement.querySelector(".changes")
  // The keyboard goes on from the next chip; from the page's title once there is none.
  const focusBeside = chip => {
    const left = [...row.querySelectorAll(".change:not([hidden])")].filter(each => each !== chip)
    const after = left.find(each => chip.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING)
    const next = (after ?? left.at(-1))?.querySelector(".back") ?? document.querySelector(".stMain h1")
    if (next?.localName === "h1") next.tabIndex = -1
    next?.focus({ preventScroll: true })
  }
  row.style.setProperty("--colour", data.colour)
  const active = parentElement.getRootNode().activeElement
  const isMore = active?.className === "more"
  const focused = active?.closest?.(".change") ? { text: active.dataset.text, part: active.dataset.part } : null
  const button = (part, chip, text) => {
    const made = htmlElement("button", part, text)
    made.type = "button"
    made.dataset.part = part
    made.dataset.text = chip.text
    return made
  }
  const chips = data.chips.map(chip => {
    const state = chip.reason ? "unfit" : chip.note ? "pending" : ""
    const one = htmlElement("span", `change ${chip.is_on ? "on" : "off"} ${state}`)
    const name = button("name", chip, chip.name)
    name.title = chip.reason || `${chip.name} Press to switch it ${chip.is_on ? "off" : "on"}.`
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
      focusBeside(one)
      one.hidden = true
      setTriggerValue("taken", chip.text)
    }
    one.append(name, back)
    if (chip.reason) one.append(htmlElement("span", "reason", chip.reason))
    if (chip.note) one.append(htmlElement("span", "note", chip.note))
    return one
  })
  row.replaceChildren(...chips)
  const folded = chips.slice(SHOWN)
  if (folded.length > 1) {
    const more = htmlElement("button", "more")
    more.type = "button"
    const unfit = data.chips.slice(SHOWN).filter(chip => chip.reason).length
    const show = isOpen => {
      row.dataset.open = isOpen // outlives the chips, which are drawn anew
      for (const chip of folded) chip.hidden = !isOpen
      more.setAttribute("aria-expanded", isOpen)
      more.textContent = isOpen ? "Show fewer" : `${folded.length} more${unfit ? `, ${unfit} of them not made` : ""}`
    }
    more.onclick = () => show(row.dataset.open !== "true")
    show(row.dataset.open === "true")
    row.append(more)
    if (isMore) more.focus({ preventScroll: true })
  }
  if (focused) {
    const same = [...row.querySelectorAll("button")].find(
      each => each.dataset.text === focused.text && each.dataset.part === focused.part,
    )
    same?.focus({ preventScroll: true })
  }
}
