export default function ({ data, parentElement, setTriggerValue }) {
  const box = ({ title, lines, colour, page, hint }) => {
    const button = htmlElement("button")
    button.type = "button"
    button.title = hint
    button.style.setProperty("--part", colour)
    button.append(htmlElement("strong", "", title), ...lines.map(line => htmlElement("span", "", line)))
    button.onclick = () => setTriggerValue("open", page)
    return button
  }
  const block = htmlElement("div", "block")
  block.append(htmlElement("div", "times", data.times), ...data.block.map(box))
  parentElement.querySelector(".flow").replaceChildren(...data.before.map(box), block, ...data.after.map(box))
}
