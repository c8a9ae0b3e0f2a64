const GLANCE = 300 // milliseconds between two looks at the address: no event tells of every change of it

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
    const link = linkOf(new URL(window.location.href))
    field.value = link
    field.hidden = false
    field.select()
    hideOutdated()
    try {
      await navigator.clipboard.writeText(link)
      button.textContent = "Copied"
    } catch {
      button.textContent = "Press Ctrl+C to copy"
    }
    setTimeout(() => { button.textContent = "Copy link to this view" }, 2500)
  }
  hideOutdated()
}
