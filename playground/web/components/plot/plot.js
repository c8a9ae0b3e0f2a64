// Plotly draws into the page itself, where its own style sheet reaches. A chart that is there already is changed.
const SIZE = 0.75, TITLE = 0.875 // rem
const SHARE = 0.6 // of a projector's window
const ROW = 1.2, LETTER = 0.56 // of a letter's size: the height of a row of numbers, the width of a digit
const USUAL = 11.25 // pixels of the letters that a figure's margins and height are made for

const CONFIG = { displayModeBar: false, displayNotifier: false, showTips: false }

const plots = new WeakMap()

// The page's colours and fonts, as a template of Plotly's.
const template = element => {
  const style = getComputedStyle(element), rem = parseFloat(getComputedStyle(document.documentElement).fontSize)
  const read = name => style.getPropertyValue(`--st-${name}`).trim()
  const scale = name => read(`chart-${name}-colors`).split(",").map((colour, i, all) => [i / (all.length - 1), colour])
  const text = read("text-color"), background = read("background-color"), line = read("border-color")
  const size = Math.max(SIZE, parseFloat(style.getPropertyValue("--least-label")) || 0) * rem // more on a projector
  const font = { color: `${text}bf`, family: read("font"), size }
  const title = { font: { ...font, size: TITLE / SIZE * size } }
  const axis = { ticks: "", gridcolor: line, zerolinecolor: line, tickfont: font, title, automargin: true, ticklabeloverflow: "allow" }
  const colorscale = { sequential: scale("sequential"), sequentialminus: scale("sequential"), diverging: scale("diverging") }
  return {
    data: { heatmap: [{ type: "heatmap", colorscale: colorscale.sequential, colorbar: { outlinewidth: 0, ticklabeloverflow: "allow" } }] },
    layout: {
      colorscale, font, colorway: read("chart-categorical-colors").split(","),
      paper_bgcolor: background, plot_bgcolor: background, margin: { l: 0, r: 0 },
      xaxis: { ...axis, showgrid: false, zeroline: false }, yaxis: axis,
      legend: { font: { ...font, color: text } },
      hoverlabel: { bgcolor: background, bordercolor: line, font: { ...font, color: text } },
    },
  }
}

// What Python has measured for usual letters, for larger ones: as high as the window, or higher if names of rows need it.
const enlarge = ({ data: [trace], layout }, width, by) => {
  if (by <= 1) return { ...layout, width }
  const margin = Object.fromEntries(Object.entries(layout.margin).map(([side, room]) => [side, by * room]))
  const isNamed = trace?.type === "heatmap" || trace?.orientation === "h"
  const rows = layout.yaxis?.ticktext?.length ?? (isNamed ? trace.y?.length : 0) ?? 0
  const columns = trace?.text?.[0]?.length, longest = columns && Math.max(...trace.text.flat().map(text => text.length))
  const height = Math.max(Math.min(by * layout.height, window.innerHeight * SHARE), rows * (columns ? ROW : 1) * by * USUAL + margin.t + margin.b)
  if (columns && longest * LETTER * by * USUAL < (width - margin.l - margin.r) / columns) trace.textfont = { size: by * USUAL }
  return { ...layout, width, height, margin }
}

export default async function ({ data: [{ figure, height, alt, source }], parentElement }) {
  const box = parentElement.querySelector(".plot"), state = plots.get(parentElement) ?? {}
  plots.set(parentElement, state)
  box.style.minHeight = `${height}px` // nothing below it jumps when it comes
  box.setAttribute("aria-label", alt)
  if (!window.Plotly) await import(new URL(source, document.baseURI)) // Streamlit's own copy
  const look = template(parentElement), colours = JSON.stringify(look), by = look.layout.font.size / USUAL
  const draw = () => {
    const width = box.clientWidth
    if (!width || (state.figure === figure && state.width === width && state.colours === colours)) return
    Object.assign(state, { figure, width, colours })
    const { data, layout } = JSON.parse(figure), shown = enlarge({ data, layout }, width, by)
    box.style.minHeight = `${shown.height}px`
    window.Plotly.react(box, data, { ...shown, template: look }, CONFIG)
  }
  state.sizes?.disconnect()
  state.sizes = new ResizeObserver(draw)
  draw()
  state.sizes.observe(box)
  return () => state.sizes.disconnect() // not purged: Plotly may be drawing, and a box that left takes all with it
}
