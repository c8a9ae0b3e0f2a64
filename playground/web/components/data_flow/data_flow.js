export default function ({ data: [data], parentElement, setTriggerValue }) {
  const box = ({ title, lines, colour, page, sum }) => {
    const element = htmlElement(data.opens ? "button" : "div", sum ? "box sum" : "box")
    if (data.opens) {
      element.type = "button"
      element.title = `Open the ${page} page`
      element.onclick = () => setTriggerValue("open", page)
    }
    element.style.setProperty("--part", colour)
    element.append(htmlElement("strong", "", title), ...lines.map(line => htmlElement("span", "", line)))
    return element
  }
  const list = (className, children) => {
    const element = htmlElement("div", className)
    element.append(...children)
    return element
  }
  // A residual connection starts in front of its boxes and ends in the last of them, which adds.
  const branch = ({ residual, boxes }) => {
    if (!residual) return boxes.map(box)
    const around = list("branch", boxes.map(box))
    around.setAttribute("role", "group")
    around.setAttribute("aria-label", "with a residual connection")
    around.append(htmlElement("div", "line"))
    return [around]
  }
  const block = list("block", [
    htmlElement("div", "times", data.times), list("boxes", data.block.flatMap(branch)),
  ])
  const flow = parentElement.querySelector(".flow")
  flow.style.setProperty("--line", data.line)
  flow.replaceChildren(list("end", data.before.map(box)), block, list("end", data.after.map(box)))
}
