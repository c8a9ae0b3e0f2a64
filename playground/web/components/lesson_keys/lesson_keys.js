// Where the arrow keys have no other meaning they go through a lesson; a presenter's remote control sends the page keys.
const ARROWS = { ArrowRight: "next", ArrowLeft: "back" }, PAGES = { PageDown: "next", PageUp: "back" }

const FREE = ":is(body, main, section, h1, a, button, summary, .st-key-lesson_line):not([role=radio], [role=tab], [role=menuitem])"

export default function ({ data: [data] }) {
  const go = event => {
    const way = { ...ARROWS, ...(data.isPresented ? PAGES : {}) }[event.key]
    const hasModifier = event.altKey || event.ctrlKey || event.metaKey || event.shiftKey
    if (!way || hasModifier || event.defaultPrevented || !event.composedPath()[0].matches?.(FREE)) return
    event.preventDefault()
    if (way === "back" || !data.isLast) document.querySelector(`.st-key-lesson_${way} button`)?.click()
  }
  document.addEventListener("keydown", go)
  return () => document.removeEventListener("keydown", go)
}
