"""The address bar: a button that copies it, and a guard that keeps it true.

Streamlit writes every bound widget into the address. Two things it misses: while a slider is moved fast, an older run's
correction can reach the browser after a newer value; and a widget whose bounds changed leaves the address although its
value stays. So every run also tells the browser what the link's parameters are by now.
"""

from collections.abc import Iterable, Mapping

import streamlit as st

from playground.web.choices.link import VERSION
from playground.web.choices.params import PARAMS, write_all

RUNS = "_runs"
"""Session key of how often the address was checked: with it the browser acts on every run, changed values or not."""

_COPY_HTML = """
<button type="button">Copy link to this view</button>
<input type="text" readonly aria-label="Link to this view" hidden>
"""

_COPY_CSS = """
button {
  width: 100%; min-height: 2.5rem; cursor: pointer; font: inherit; color: var(--st-text-color);
  background: var(--st-background-color); border: 1px solid var(--st-border-color);
  border-radius: var(--st-button-radius);
}
button:hover, button:focus-visible { border-color: var(--st-primary-color); color: var(--st-primary-color); }
input {
  width: 100%; box-sizing: border-box; margin-top: .4rem; padding: .3rem; font: inherit; font-size: .8em;
  color: var(--st-text-color); background: var(--st-secondary-background-color);
  border: 1px solid var(--st-border-color); border-radius: var(--st-base-radius);
}
"""

_COPY_JS = """
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
"""

_GUARD_JS = """
export default function ({ data }) {
  const address = new URL(window.location.href)
  for (const [key, texts] of Object.entries(data.parameters)) {
    if (JSON.stringify(address.searchParams.getAll(key)) === JSON.stringify(texts)) continue
    address.searchParams.delete(key)
    for (const text of texts) address.searchParams.append(key, text)
  }
  if (address.href !== window.location.href) window.history.replaceState(window.history.state, "", address)
}
"""

_copy = st.components.v2.component("copy_link", html=_COPY_HTML, css=_COPY_CSS, js=_COPY_JS)
_guard = st.components.v2.component("address_guard", js=_GUARD_JS)


def copy_link(more: Mapping[str, list[str]]) -> None:
    """Show the button; the link is read from the address bar when it is pressed, and `more` parameters go with it."""
    _copy(key="copy_link", data={"version": VERSION, "more": dict(more)})


def keep_true(name: str, keys: Iterable[str]) -> None:
    """Put the present values of these parameters into the address: of those that have a widget by now."""
    values = {key: st.session_state[key] for key in keys if key in st.session_state}
    written = {key: write_all(value) for key, value in values.items()}
    parameters = {key: [] if texts == write_all(PARAMS[key].default) else texts for key, texts in written.items()}
    st.session_state[RUNS] = st.session_state.get(RUNS, 0) + 1
    _guard(key=f"address_{name}", data={"parameters": parameters, "run": st.session_state[RUNS]})
