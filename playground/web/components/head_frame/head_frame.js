const CLICK = 8 // pixels that a pointer may move between press and release

const watching = new WeakMap()

export default function ({ data, parentElement, setTriggerValue }) {
  const grid = parentElement.getRootNode().host.closest(`.st-key-${data.container}`)
  const place = () => {
    const picture = grid.querySelector(".nsewdrag")
    const holder = picture?.closest(".svg-container")
    if (!holder) return
    picture.style.cursor = "pointer"
    let frame = holder.querySelector(":scope > .head-frame")
    if (!frame) {
      frame = document.createElement("div")
      frame.className = "head-frame"
      holder.append(frame)
    }
    const inner = picture.getBoundingClientRect(), outer = holder.getBoundingClientRect()
    const width = inner.width / data.heads, height = inner.height / data.layers
    Object.assign(frame.style, {
      position: "absolute", pointerEvents: "none", boxSizing: "border-box", border: `3px solid ${data.colour}`,
      left: `${inner.left - outer.left + data.head * width - 2}px`, width: `${width + 2}px`,
      top: `${inner.top - outer.top + data.layer * height - 2}px`, height: `${height + 2}px`,
    })
  }
  const open = event => {
    const inner = grid.querySelector(".nsewdrag")?.getBoundingClientRect()
    if (!inner) return
    const layer = Math.floor((event.clientY - inner.top) / inner.height * data.layers)
    const head = Math.floor((event.clientX - inner.left) / inner.width * data.heads)
    const isInside = layer >= 0 && layer < data.layers && head >= 0 && head < data.heads
    if (isInside) setTriggerValue("clicked", [layer, head])
  }
  // While a mouse button is down, Plotly covers the page: the click that follows belongs to no chart.
  const press = down => {
    if (!down.isPrimary || down.button !== 0) return
    const release = new AbortController()
    const options = { capture: true, signal: release.signal }
    document.addEventListener("pointercancel", () => release.abort(), options) // a finger that scrolls
    document.addEventListener("pointerup", up => {
      release.abort()
      if (Math.hypot(up.clientX - down.clientX, up.clientY - down.clientY) < CLICK) open(up)
    }, options)
  }
  watching.get(parentElement)?.disconnect()
  const watch = new MutationObserver(() => requestAnimationFrame(place))
  watch.observe(grid, { subtree: true, childList: true, attributes: true, attributeFilter: ["width", "height"] })
  watching.set(parentElement, watch)
  place()
  grid.onpointerdown = press // one for all drawings: a new one takes the place of the one before
  return () => watch.disconnect()
}
