// Where the arrow keys have no other meaning they go through a lesson; a presenter's remote control sends the page keys.
const ARROWS = { ArrowRight: "next", ArrowLeft: "back" }, PAGES = { PageDown: "next", PageUp: "back" }

const FREE = ":is(body, main, section, h1, a, button, summary, .st-key-lesson_line):not([role=radio], [role=tab], [role=menuitem])"

export default function ({ data: [data] }) {
  const go = event => {
    const way = { ...ARROWS, ...(data.isPresented ? PAGES : {}) }[event.key]
    const isElsewhere = event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || !event.composedPath()[0].matches(FREE)
    if (!way || event.defaultPrevented || isElsewhere || (way === "next" && data.isLast)) return
    event.preventDefault()
    document.querySelector(`.st-key-lesson_${way} button`)?.click()
  }
  document.addEventListener("keydown", go)
  return () => document.removeEventListener("keydown", go)
}
