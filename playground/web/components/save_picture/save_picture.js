// Plotly saves the picture itself, as large as on the screen.
export default function ({ data: [{ chart, name }], parentElement }) {
  for (const button of parentElement.querySelectorAll("button")) {
    button.onclick = () => {
      const plot = document.querySelector(`.st-key-${chart} .js-plotly-plot`), { format } = button.dataset
      const size = { width: null, height: null, scale: format === "png" ? 2 : 1 }
      window.Plotly.downloadImage(plot, { format, filename: name, ...size })
    }
  }
}
