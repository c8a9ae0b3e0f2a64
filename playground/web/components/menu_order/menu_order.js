const MENU = "a[data-testid^=stTopNav], a[data-testid=stSidebarNavLink]"

// A press on the menu takes the cursor from a text field. Streamlit sends the text from a timer that this starts, and
// with it the page that is still open; a quick click asks for the next page before, and the text would call it back.
// Timers run in their order: one that is set at the click runs after the text's.
const waitForText = event => {
  const link = event.target.closest?.(MENU)
  const opensElsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey
  if (!link || opensElsewhere || !event.isTrusted) return
  event.preventDefault()
  event.stopPropagation()
  setTimeout(() => link.click())
}

export default function () {
  document.addEventListener("click", waitForText, true)
  return () => document.removeEventListener("click", waitForText, true)
}
