const MENU = "a[data-testid^=stTopNav], a[data-testid^=stPageLink]"

const LONGEST = 3000 // milliseconds

// A phone's second field for the text hands it to the first through the server, and only then is it in the address.
const isOnItsWay = () => {
  const [second, first] = [".st-key-phone_text textarea, .st-key-front_text input", ".st-key-text textarea"]
    .map(field => document.querySelector(field))
  return Boolean(second?.offsetParent && first) && second.value !== first.value
}

// A press on the menu takes the cursor from a text field. Streamlit sends the text from a timer that this starts, and
// with it the page that is still open; a quick click asks for the next page before, and the text would call it back.
// Timers run in their order: one that is set at the click runs after the text's.
const waitForText = event => {
  const link = event.target.closest?.(MENU)
  const opensElsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey
  if (!link || opensElsewhere || !event.isTrusted) return
  event.preventDefault()
  event.stopPropagation()
  const latest = performance.now() + LONGEST
  const click = () => isOnItsWay() && performance.now() < latest ? setTimeout(click, 20) : link.click()
  setTimeout(click)
}

// Streamlit keeps how far the page before was scrolled: the next one would open without its heading.
let path = window.location.pathname
const beginAtTop = () => {
  if (path === window.location.pathname) return
  path = window.location.pathname
  const main = document.querySelector("[data-testid=stMain]")
  if (main) main.scrollTop = 0
}

export default function () {
  document.addEventListener("click", waitForText, true)
  window.navigation?.addEventListener("currententrychange", beginAtTop)
  return () => {
    document.removeEventListener("click", waitForText, true)
    window.navigation?.removeEventListener("currententrychange", beginAtTop)
  }
}
