// Helpers of the scripts that draw. Text reaches the page through `textContent` alone, never as markup.

const htmlElement = (name, className = "", text = "") => {
  const element = document.createElement(name)
  element.className = className
  element.textContent = text
  return element
}

const svgElement = (name, attributes, text = "") => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  element.textContent = text
  return element
}

// Where something is that a visitor moves faster than the server answers. What was sent is shown until the answer to it
// has come: an answer to an earlier move would move it back.
const moves = () => {
  const PATIENCE = 3000 // milliseconds after which an answer counts as lost
  let sent = [], latest
  return {
    place: null,
    isAnswered: () => !sent.length,
    send(place) {
      this.place = place
      sent.push({ text: JSON.stringify(place), time: performance.now() })
    },
    take(answer) {
      const text = JSON.stringify(answer), answered = sent.findIndex(move => move.text === text)
      if (answered >= 0) sent = sent.slice(answered + 1)
      else if (text !== latest) sent = [] // somebody else's move
      latest = text
      sent = sent.filter(move => performance.now() - move.time < PATIENCE)
      if (!sent.length) this.place = answer
    },
  }
}
