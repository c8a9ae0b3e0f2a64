const REGION_KNOWN = 200 // milliseconds, after which a screen reader reads out what changes in a new region

export default function ({ data: [data], parentElement }) {
  const element = parentElement.getRootNode().host.closest("[data-testid=stElementContainer]")
  if (element) element.style.position = "absolute" // no room between what can be seen
  const region = parentElement.querySelector("p")
  if (region.textContent === data.sentence) return
  const timer = setTimeout(() => { region.textContent = data.sentence }, REGION_KNOWN)
  return () => clearTimeout(timer)
}
