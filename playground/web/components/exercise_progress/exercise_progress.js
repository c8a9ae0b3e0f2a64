const PLACE = "progress of the exercises"
const EMPTY = '{"version":1,"exercises":{}}'

let asked = "" // the session that was told what the browser has: once is enough

const join = (one, other) => ({
  found: Boolean(one?.found || other?.found),
  given_up: Boolean(one?.given_up || other?.given_up),
  tries: Math.max(one?.tries ?? 0, other?.tries ?? 0),
})

// What is stored; another tab may have stored more meanwhile, or somebody else something else.
const read = () => {
  try {
    const stored = JSON.parse(localStorage.getItem(PLACE))
    if (stored.version === 1 && typeof stored.exercises === "object" && stored.exercises) return stored
  } catch {}
  return JSON.parse(EMPTY)
}

export default function ({ data: [data], parentElement, setTriggerValue }) {
  const element = parentElement.getRootNode().host.closest("[data-testid=stElementContainer]")
  if (element) element.style.display = "none" // nothing of it can be seen
  if (!data.isRead && asked !== data.session) {
    asked = data.session
    setTriggerValue("stored", JSON.stringify(read()))
  } else if (data.isRead) {
    const stored = read()
    for (const [key, result] of Object.entries(JSON.parse(data.progress).exercises)) {
      stored.exercises[key] = join(stored.exercises[key], result)
    }
    try {
      localStorage.setItem(PLACE, JSON.stringify(stored))
    } catch {} // a private window, or a full one, keeps nothing
  }
}
