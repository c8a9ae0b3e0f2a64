// Whether to say it: in the tab's storage lies which session had an experiment, and whether that was already found lost.
function isLost({ page, session, hasExperiment }) {
  const place = `experiment on ${page}`
  try {
    const before = JSON.parse(sessionStorage.getItem(place)) ?? {}
    const lost = !hasExperiment && Boolean(before.session) && (before.session === session) === Boolean(before.lost)
    if (hasExperiment || lost) sessionStorage.setItem(place, JSON.stringify({ session, lost }))
    else sessionStorage.removeItem(place) // it was reset here, or told in an earlier session
    return lost
  } catch {
    return false // a browser may keep a frame from storing anything
  }
}

export default function ({ data: [data], parentElement }) {
  const sentence = parentElement.querySelector("p")
  sentence.hidden = !isLost(data)
  sentence.querySelector(".all").hidden = data.hasNetwork
  sentence.querySelector(".curves").hidden = !data.hasNetwork
  const element = parentElement.getRootNode().host.closest("[data-testid=stElementContainer]")
  if (element) element.style.position = sentence.hidden ? "absolute" : "" // no room for what cannot be seen
}
