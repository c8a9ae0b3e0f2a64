const REGION_KNOWN = 200 // milliseconds, after which a screen reader reads out what changes in a new region
const OFTEN = 100
const LONGEST = 20000 // milliseconds until what the page drew before is surely gone

let focused = null // what had the focus last, also when it is gone
document.addEventListener("focusin", event => { focused = event.target })

function focusInPlaceOfLost(key) {
  const container = document.querySelector(`.st-key-${key}`)
  if (!container || !focused || focused.isConnected || document.activeElement !== document.body) return false
  container.tabIndex = -1
  container.focus({ preventScroll: true })
  return true
}

export default function ({ data: [data], parentElement }) {
  const element = parentElement.getRootNode().host.closest("[data-testid=stElementContainer]")
  if (element) element.style.position = "absolute" // no room between what can be seen
  const region = parentElement.querySelector("p")
  const begun = performance.now()
  const watch = setInterval(() => {
    if (performance.now() - begun > LONGEST || focusInPlaceOfLost(data.container)) clearInterval(watch)
  }, OFTEN)
  const timer = setTimeout(() => { region.textContent = data.sentence }, REGION_KNOWN)
  return () => { clearTimeout(timer); clearInterval(watch) }
}
