// When the latest of all runs ended that have written the address: page and fragments have a guard each, and the front
// end calls any of them again when it likes, with what an older run said.
let latest = {}

const OTHERS = /^(embed|embed_options|only|v)$/ // what is no choice of the visitor's

export default function ({ data: [data], parentElement, setTriggerValue }) {
  // Nothing is drawn, so the page must not keep the room that it leaves around everything.
  parentElement.getRootNode().host.closest("[data-testid=stElementContainer]")?.style.setProperty("display", "none")
  // Streamlit asks a new session for the address that the page was opened with: what was chosen since is in this one.
  const isLost = window.playgroundSession !== undefined && window.playgroundSession !== data.session
  window.playgroundSession = data.session
  if (isLost) return setTriggerValue("address", window.location.search)
  if (data.moment.process === latest.process && data.moment.time <= latest.time) return
  latest = data.moment
  const address = new URL(window.location.href)
  for (const key of new Set(address.searchParams.keys())) {
    if (!OTHERS.test(key)) address.searchParams.delete(key)
  }
  for (const [key, texts] of Object.entries(data.parameters)) {
    for (const text of texts) address.searchParams.append(key, text)
  }
  if (address.href !== window.location.href) window.history.replaceState(window.history.state, "", address)
}
