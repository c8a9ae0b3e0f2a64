// From the lowest value to the highest, with 0 between them; numbers stand beyond the ends of their bars.
export default function ({ data: [data], parentElement }) {
  const figure = parentElement.querySelector(".bars")
  const values = data.values.map(value => value ?? 0)
  const low = Math.min(0, ...values), high = Math.max(0, ...values), span = high - low || 1
  const place = value => 100 * (value - low) / span
  const room = sign => {
    const lengths = data.texts.filter((_, i) => sign * values[i] > 0 || (sign > 0 && values[i] === 0)).map(text => text.length)
    return lengths.length ? `${Math.max(...lengths) + 2}ch` : "0"
  }
  figure.setAttribute("aria-label", data.alt)
  figure.style.setProperty("--left", room(-1))
  figure.style.setProperty("--right", room(1))
  const rows = values.flatMap((value, i) => {
    const name = htmlElement("div", "name", data.labels[i]), track = htmlElement("div", "track")
    const zero = htmlElement("div", "zero"), bar = htmlElement("div", "bar"), number = htmlElement("div", "number", data.texts[i])
    name.title = data.labels[i]
    zero.style.left = `${place(0)}%`
    bar.style.left = `${place(Math.min(0, value))}%`
    bar.style.width = `${100 * Math.abs(value) / span}%`
    bar.style.background = data.colours[i]
    if (value < 0) number.style.right = `${100 - place(value)}%`
    else number.style.left = `${place(value)}%`
    track.append(zero, bar, number)
    return [name, track]
  })
  figure.replaceChildren(...rows, htmlElement("div"), htmlElement("div", "title", data.title))
}
