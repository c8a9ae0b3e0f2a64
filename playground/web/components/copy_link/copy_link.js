const GLANCE = 300 // milliseconds between two looks at the address: no event tells of every change of it
const CALM = 200 // milliseconds
const LONGEST = 4000 // milliseconds; a browser lets a page write to the clipboard for five seconds after a click

// The address, once no run is on its way any more: a run that began before the last choice still tells the old one.
const calmAddress = async () => {
  const begin = performance.now()
  let address = "", since = begin
  while (performance.now() < Math.min(since + CALM, begin + LONGEST)) {
    const isRunning = document.querySelector("[data-test-script-state=running]") !== null
    if (isRunning || window.location.href !== address) since = performance.now()
    address = window.location.href
    await new Promise(next => setTimeout(next, 20))
  }
  return new URL(window.location.href)
}

export default function ({ data, parentElement }) {
  const button = parentElement.querySelector("button")
  const field = parentElement.querySelector("input")
  const linkOf = address => {
    for (const [key, texts] of Object.entries(data.more)) {
      if (address.searchParams.has(key)) continue
      for (const text of texts) address.searchParams.append(key, text)
    }
    address.searchParams.set("v", data.version)
    return address.href
  }
  const hideOutdated = () => {
    clearTimeout(field.nextGlance)
    field.hidden ||= field.value !== linkOf(new URL(window.location.href))
    if (!field.hidden && field.isConnected) field.nextGlance = setTimeout(hideOutdated, GLANCE)
  }
  button.onclick = async () => {
    button.textContent = "Copying …"
    const link = calmAddress().then(linkOf)
    // Handed over at once: some browsers let only the click itself write to the clipboard.
    const text = link.then(words => new Blob([words], { type: "text/plain" }))
    const write = async () => navigator.clipboard.write([new ClipboardItem({ "text/plain": text })])
    const copied = write().then(() => true, () => false)
    field.value = await link
    field.hidden = false
    field.select()
    hideOutdated()
    button.textContent = await copied ? "Copied" : "Press Ctrl+C to copy"
    setTimeout(() => { button.textContent = "Copy link to this view" }, 2500)
  }
  hideOutdated()
}
