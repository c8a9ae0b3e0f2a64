export default function ({ data: [data], parentElement }) {
  parentElement.querySelector("ul").replaceChildren(...data.entries.map(({ name, colour, dash, state }) => {
    const entry = legendEntry("li", { name: state === "coming" ? `${name} (to come)` : name, colour, dash })
    entry.className = state
    return entry
  }))
}
