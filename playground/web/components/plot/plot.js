// Plotly draws into the page itself, where its own style sheet reaches. A chart that is there already is changed.
const SIZE = 0.75, TITLE = 0.875 // rem

const CONFIG = { displayModeBar: false, displayNotifier: false, showTips: false }

const plots = new WeakMap()

// The page's colours and fonts, as a template of Plotly's.
const template = element => {
  const style = getComputedStyle(element), rem = parseFloat(getComputedStyle(document.documentElement).fontSize)
  const read = name => style.getPropertyValue(`--st-${name}`).trim()
  const scale = name => read(`chart-${name}-colors`).split(",").map((colour, i, all) => [i / (all.length - 1), colour])
  const text = read("text-color"), background = read("background-color"), line = read("border-color")
  const font = { color: `${text}bf`, family: read("font"), size: SIZE * rem }
  const title = { font: { ...font, size: TITLE * rem } }
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

export default async function ({ data: [{ figure, height, alt, source }], parentElement }) {
  const box = parentElement.querySelector(".plot"), state = plots.get(parentElement) ?? {}
  plots.set(parentElement, state)
  box.style.minHeight = `${height}px` // nothing below it jumps when it comes
  box.setAttribute("aria-label", alt)
  if (!window.Plotly) await import(new URL(source, document.baseURI)) // Streamlit's own copy
  const look = template(parentElement), colours = JSON.stringify(look)
  const draw = () => {
    const width = box.clientWidth
    if (!width || (state.figure === figure && state.width === width && state.colours === colours)) return
    Object.assign(state, { figure, width, colours })
    const { data, layout } = JSON.parse(figure)
    window.Plotly.react(box, data, { ...layout, width, template: look }, CONFIG)
  }
  state.sizes?.disconnect()
  state.sizes = new ResizeObserver(draw)
  draw()
  state.sizes.observe(box)
  return () => state.sizes.disconnect() // not purged: Plotly may be drawing, and a box that left takes all with it
}
