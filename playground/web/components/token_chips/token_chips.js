export default function ({ data, parentElement }) {
  parentElement.querySelector(".chips").replaceChildren(...data.chips.map(([piece, id, kind, title]) => {
    const chip = htmlElement("span", `chip ${kind}`)
    chip.title = title
    chip.append(htmlElement("span", "piece", piece), htmlElement("span", "id", id))
    return chip
  }))
}
