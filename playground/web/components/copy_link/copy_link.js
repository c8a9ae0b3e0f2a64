export default function ({ data, parentElement }) {
  const button = parentElement.querySelector("button")
  const field = parentElement.querySelector("input")
  button.onclick = async () => {
    const link = new URL(window.location.href)
    for (const [key, texts] of Object.entries(data.more)) {
      if (link.searchParams.has(key)) continue
      for (const text of texts) link.searchParams.append(key, text)
    }
    link.searchParams.set("v", data.version)
    field.value = link.href
    field.hidden = false
    field.select()
    try {
      await navigator.clipboard.writeText(link.href)
      button.textContent = "Copied"
    } catch {
      button.textContent = "Press Ctrl+C to copy"
    }
    setTimeout(() => { button.textContent = "Copy link to this view" }, 2500)
  }
}
