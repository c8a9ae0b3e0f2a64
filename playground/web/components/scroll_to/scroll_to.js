let latest = {} // the front end may call this again with what an older run said

export default function ({ data }) {
  if (data.moment.process === latest.process && data.moment.time <= latest.time) return
  latest = data.moment
  const key = window.innerWidth <= 640 ? data.onPhone : data.target // as narrow as Streamlit stacks columns
  const target = document.querySelector(`.st-key-${key}`)
  if (!target) return
  const isTall = target.offsetHeight > window.innerHeight / 2
  target.style.scrollMarginTop = data.clear
  target.scrollIntoView({ block: isTall ? "start" : "center" })
}
