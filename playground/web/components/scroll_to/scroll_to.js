let latest = 0 // the front end may call this again with what an older run said

export default function ({ data }) {
  if (data.time <= latest) return
  latest = data.time
  document.querySelector(`.st-key-${data.target}`)?.scrollIntoView({ block: "center" })
}
