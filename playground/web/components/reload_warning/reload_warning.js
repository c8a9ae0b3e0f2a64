const ask = event => event.preventDefault()

export default function () {
  window.addEventListener("beforeunload", ask) // once, however often this is called, as it is the same function
  return () => window.removeEventListener("beforeunload", ask)
}
