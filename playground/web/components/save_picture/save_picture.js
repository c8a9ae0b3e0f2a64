// Plotly saves the picture itself, by the button of its mode bar, which the page's style hides.
export default function ({ data: [{ chart, name }], parentElement }) {
  for (const button of parentElement.querySelectorAll("button")) {
    button.onclick = () => {
      const plot = document.querySelector(`.st-key-${chart} .js-plotly-plot`), { format } = button.dataset
      const size = { width: null, height: null, scale: format === "png" ? 2 : 1 } // as on the screen
      plot._context.toImageButtonOptions = { format, filename: name, ...size }
      plot.querySelector(".modebar-btn").click()
    }
  }
}
