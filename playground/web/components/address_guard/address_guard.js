export default function ({ data }) {
  const address = new URL(window.location.href)
  for (const [key, texts] of Object.entries(data.parameters)) {
    if (JSON.stringify(address.searchParams.getAll(key)) === JSON.stringify(texts)) continue
    address.searchParams.delete(key)
    for (const text of texts) address.searchParams.append(key, text)
  }
  if (address.href !== window.location.href) window.history.replaceState(window.history.state, "", address)
}
