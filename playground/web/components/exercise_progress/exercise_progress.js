const PLACE = "progress of the exercises"
const EMPTY = '{"version":1,"exercises":{}}'

let asked = "" // the session that was told what the browser has: once is enough

// What is stored, or nothing; another tab may have stored more meanwhile.
const read = () => {
  try {
    const stored = JSON.parse(localStorage.getItem(PLACE) ?? EMPTY)
    return stored?.version === 1 && typeof stored.exercises === "object" && stored.exercises ? stored : JSON.parse(EMPTY)
  } catch {
    return JSON.parse(EMPTY)
  }
}

const canStore = () => {
  try {
    localStorage.setItem(PLACE, localStorage.getItem(PLACE) ?? EMPTY)
    return true
  } catch {
    return false
  }
}

const join = (one, other) => ({
  found: Boolean(one?.found || other?.found),
  given_up: Boolean(one?.given_up || other?.given_up),
  tries: Math.max(one?.tries ?? 0, other?.tries ?? 0),
})

export default function ({ data: [data], parentElement, setTriggerValue }) {
  const lost = parentElement.querySelector(".lost")
  const isKept = canStore()
  lost.hidden = isKept
  const element = parentElement.getRootNode().host.closest("[data-testid=stElementContainer]")
  if (element) element.style.display = isKept ? "none" : "" // no room for what cannot be seen
  if (isKept && !data.isRead && asked !== data.session) {
    asked = data.session
    setTriggerValue("stored", localStorage.getItem(PLACE) ?? EMPTY)
  }
  const results = JSON.parse(data.progress)
  if (isKept && data.isRead) {
    const stored = data.replaces ? JSON.parse(EMPTY) : read()
    for (const [key, result] of Object.entries(results.exercises)) stored.exercises[key] = join(stored.exercises[key], result)
    try {
      localStorage.setItem(PLACE, JSON.stringify(stored))
    } catch {
      lost.hidden = false // it is full
    }
  }
}
