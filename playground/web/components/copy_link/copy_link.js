const GLANCE = 300 // milliseconds between two looks at the address: no event tells of every change of it
const CALM = 200 // milliseconds
const LONGEST = 4000 // milliseconds; a browser lets a page write to the clipboard for five seconds after a click

// What the last run said; the number of the last click, and what to do once a run has answered it.
let latest = {}, asked = 0, answer = () => {}

let nextLabel // the timer that gives the button its own words again

const linkOf = address => {
  for (const [key, texts] of Object.entries(latest.more)) {
    if (address.searchParams.has(key)) continue
    for (const text of texts) address.searchParams.append(key, text)
  }
  address.searchParams.set("v", latest.version)
  return address.href
}

const pause = milliseconds => new Promise(next => setTimeout(next, milliseconds))

// The address, once the server has answered the click and no run is on its way any more: a run that began before the
// last choice still tells the old one.
const calmAddress = async answered => {
  const end = performance.now() + LONGEST
  await Promise.race([answered, pause(LONGEST - CALM)])
  let address = "", since = performance.now()
  while (performance.now() < Math.min(since + CALM, end)) {
    const isRunning = document.querySelector("[data-test-script-state=running]") !== null
    if (isRunning || window.location.href !== address) since = performance.now()
    address = window.location.href
    await pause(20)
  }
  return new URL(window.location.href)
}

export default function ({ data: [data], parentElement, setTriggerValue }) {
  latest = data
  const button = parentElement.querySelector("button")
  const field = parentElement.querySelector("input")
  const words = data.isSmall ? "Copy link" : "Copy link to this view"
  const showWords = () => { button.textContent = words }
  if (button.textContent === "") showWords() // no other words that a click has brought
  button.classList.toggle("small", data.isSmall)
  const tooLong = parentElement.querySelector("p")
  const file = parentElement.querySelector("a")
  const offerFile = link => {
    const [length, longest] = [link.length, latest.longest].map(n => n.toLocaleString("en"))
    tooLong.textContent = `This link would have ${length} characters, and servers take ${longest}. `
      + "Save it as a file: the sidebar opens it under More, and open_link reads it in Python."
    URL.revokeObjectURL(file.href)
    file.href = URL.createObjectURL(new Blob([link], { type: "text/plain" }))
    tooLong.hidden = file.hidden = false
    field.hidden = true
    showWords()
  }
  const hideOutdated = () => {
    clearTimeout(field.nextGlance)
    field.hidden ||= field.value !== linkOf(new URL(window.location.href))
    if (!field.hidden && field.isConnected) field.nextGlance = setTimeout(hideOutdated, GLANCE)
  }
  if (data.answered === asked) answer()
  button.onclick = async () => {
    clearTimeout(nextLabel)
    button.textContent = "Copying …"
    tooLong.hidden = file.hidden = true
    const answered = new Promise(done => { answer = done })
    setTriggerValue("asked", asked = Date.now())
    const link = calmAddress(answered).then(linkOf)
    // Handed over at once: some browsers let only the click itself write to the clipboard.
    const text = link.then(words => {
      if (words.length > latest.longest) throw new Error("too long")
      return new Blob([words], { type: "text/plain" })
    })
    const write = async () => navigator.clipboard.write([new ClipboardItem({ "text/plain": text })])
    const copied = write().then(() => true, () => false)
    field.value = await link
    if (field.value.length > latest.longest) return offerFile(field.value)
    if (data.isSmall) field.hidden = await copied
    else field.hidden = false
    field.select()
    hideOutdated()
    const toCopy = data.isSmall ? "Copy it here" : "Press Ctrl+C to copy"
    button.textContent = await copied ? "Copied" : toCopy
    clearTimeout(nextLabel) // of a click before this one, which took longer
    nextLabel = setTimeout(showWords, 2500)
  }
  hideOutdated()
}
