const CLICK = 8 // pixels that a pointer may move between press and release
const SEEN = 160 // pixels of what a press opens: with fewer in the window it has to come there

const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] } // on the screen

const frames = new WeakMap()

// Along one side of the picture, from its left or its top: which cell lies at a share of the side, and the shares at
// which a cell begins and ends. An axis that was zoomed into shows fewer cells.
const divide = (cells, [from, to], isMosaic) => {
  if (!cells || isMosaic) {
    const count = cells ? cells[1] + 1 : 1
    return { cellAt: share => Math.floor(share * count), ends: cell => [cell / count, (cell + 1) / count] }
  }
  const shareOf = place => (place - from) / (to - from)
  return {
    cellAt: share => Math.round(from + share * (to - from)),
    ends: cell => [shareOf(cell - 0.5), shareOf(cell + 0.5)].sort((one, other) => one - other),
  }
}

export default function ({ data: [data], parentElement, setTriggerValue }) {
  const host = parentElement.getRootNode().host, chart = host.closest(`.st-key-${data.container}`)
  if (!chart) return // another view took the chart's place while this script was being loaded
  // From the chart's own corner, so that nothing below it moves the frame, and without room between it and what follows.
  chart.style.position = "relative"
  if (data.leastWidth) chart.style.setProperty("--least-width", `${data.leastWidth}px`)
  else chart.style.removeProperty("--least-width")
  Object.assign(host.closest("[data-testid=stElementContainer]").style, { position: "absolute", top: 0, left: 0 })
  const origin = parentElement.querySelector(".origin"), frame = parentElement.querySelector(".frame")
  const state = frames.get(parentElement) ?? moves()
  frames.set(parentElement, state)
  const before = JSON.stringify(state.place)
  state.take(data.selected)
  if (JSON.stringify(state.place) !== before) { // chosen elsewhere: what a finger pointed at last is not it any more
    chart.querySelector(".hoverlayer")?.replaceChildren()
  }
  frame.setAttribute("aria-label", data.label)
  frame.style.setProperty("--colour", data.colour)

  const sides = () => {
    const layout = chart.querySelector(".js-plotly-plot")?._fullLayout, picture = chart.querySelector(".nsewdrag")
    if (!layout || !picture) return null
    const [bottom, top] = layout.yaxis.range
    return {
      picture,
      inner: picture.getBoundingClientRect(),
      down: divide(data.rows, [top, bottom], data.mosaic),
      across: divide(data.columns, layout.xaxis.range, data.mosaic),
      isUpwards: top > bottom,
    }
  }
  const place = () => {
    const scrolled = scrolledBox()
    if (scrolled?.scrollWidth > scrolled?.clientWidth) scrolled.tabIndex = 0 // for the arrow keys
    else scrolled?.removeAttribute("tabindex")
    const found = sides()
    frame.hidden = !found || !state.place
    if (frame.hidden) return
    const { picture, inner, down, across } = found, outer = origin.getBoundingClientRect()
    picture.style.cursor = "pointer"
    const inside = shares => shares.map(share => Math.min(Math.max(share, 0), 1))
    const [top, bottom] = inside(down.ends(state.place[0])), [left, right] = inside(across.ends(state.place[1]))
    const box = scrolled.getBoundingClientRect(), middle = inner.left + (left + right) / 2 * inner.width
    frame.hidden = top === bottom || left === right // beyond what is zoomed into
      || Boolean(data.columns) && (middle < box.left || middle > box.right) // or scrolled to; a whole row always is
    Object.assign(frame.style, {
      clipPath: "none",
      left: `${inner.left - outer.left + left * inner.width - 2}px`, width: `${(right - left) * inner.width + 3}px`,
      top: `${inner.top - outer.top + top * inner.height - 2}px`, height: `${(bottom - top) * inner.height + 3}px`,
    })
    cutOut()
  }
  const cutOut = () => { // Plotly's tooltip stays whole: the frame has no line where it lies over one
    const tooltip = chart.querySelector(".hoverlayer :is(.hovertext, .legend)")?.getBoundingClientRect()
    if (!tooltip) return
    const outer = frame.getBoundingClientRect(), [left, top] = [tooltip.left - outer.left, tooltip.top - outer.top]
    const box = (l, t, r, b) => `M${l} ${t}H${r}V${b}H${l}Z`
    const all = box(-9, -9, outer.width + 9, outer.height + 9)
    frame.style.clipPath = `path(evenodd, "${all}${box(left, top, left + tooltip.width, top + tooltip.height)}")`
  }
  const scrolledBox = () => chart.querySelector("[data-testid=stElementContainer]:has(.plot)")
  const scroll = () => { // the rows' names stay in sight
    const names = chart.querySelector(".yaxislayer-above")
    if (names) names.style.transform = `translateX(${scrolledBox().scrollLeft}px)`
    place()
  }
  const isAmong = (number, cells) => cells ? number >= cells[0] && number <= cells[1] : number === 0
  const isCell = ([row, column]) => isAmong(row, data.rows) && isAmong(column, data.columns)
  const choose = cell => {
    if (!isCell(cell)) return
    state.send(cell)
    place()
    setTriggerValue("clicked", cell)
  }
  const open = event => {
    const found = sides()
    if (!found) return
    const { inner, down, across } = found
    const [y, x] = [(event.clientY - inner.top) / inner.height, (event.clientX - inner.left) / inner.width]
    if (x < 0 || x >= 1 || y < 0 || y >= 1) return
    choose([down.cellAt(y), across.cellAt(x)])
    frame.focus({ preventScroll: true, focusVisible: false }) // for the arrow keys
    const opened = data.opens && document.querySelector(`.st-key-${data.opens}`)
    if (!opened) return
    const { top, bottom } = (opened.querySelector(".plot") ?? opened).getBoundingClientRect()
    if (bottom < SEEN || top > window.innerHeight - SEEN) opened.scrollIntoView({ block: "start", behavior: "smooth" })
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
  frame.onkeydown = event => {
    const arrow = ARROWS[event.key]
    if (!arrow || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    const [row, column] = state.place
    choose([row + (sides()?.isUpwards && !data.mosaic ? -arrow[0] : arrow[0]), column + arrow[1]])
  }
  const placeSoon = () => requestAnimationFrame(place)
  state.watch?.disconnect()
  state.sizes?.disconnect()
  state.watch = new MutationObserver(placeSoon)
  state.sizes = new ResizeObserver(placeSoon)
  state.sizes.observe(chart)
  const shapes = ["width", "height", "d"] // of what Plotly draws
  state.watch.observe(chart, { subtree: true, childList: true, attributes: true, attributeFilter: shapes })
  place()
  chart.addEventListener("scroll", scroll, { capture: true, passive: true })
  chart.onpointerdown = press // one for all drawings: a new one takes the place of the one before
  return () => {
    chart.removeEventListener("scroll", scroll, { capture: true })
    state.watch.disconnect()
    state.sizes.disconnect()
    if (chart.onpointerdown === press) chart.onpointerdown = null // the chart may stay without cells to choose
  }
}
