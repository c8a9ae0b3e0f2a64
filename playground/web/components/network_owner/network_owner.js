const PLACE = "owner of the trained network"

let asked = "" // the session that was told of the earlier owner: once is enough

export default function ({ data: [data], parentElement, setTriggerValue }) {
  parentElement.getRootNode().host.closest("[data-testid=stElementContainer]")?.style.setProperty("display", "none")
  try {
    const earlier = sessionStorage.getItem(PLACE)
    if (data.hasNetwork) {
      sessionStorage.setItem(PLACE, data.owner)
    } else if (earlier && earlier !== data.owner && asked !== data.owner) {
      asked = data.owner
      setTriggerValue("earlier", earlier)
    }
  } catch {
    // a browser may keep a frame from storing anything
  }
}
