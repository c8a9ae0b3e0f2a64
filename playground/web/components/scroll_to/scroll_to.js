const STILL = 2000 // milliseconds after which nothing that is drawn later is expected to push the target away
const LONGEST = 20000
const OWN = ["wheel", "touchmove", "pointerdown", "keydown"] // where the visitor goes counts more

let latest = {} // the front end may call this again with what an older run said
let stop = () => {}

export default function ({ data: [data] }) {
  if (data.moment.process === latest.process && data.moment.time <= latest.time) return
  latest = data.moment
  stop()
  const key = data.target
  const top = document.querySelector(`.st-key-${key}`)?.getBoundingClientRect().top
  if (data.unlessSeen && top >= 56 && top < window.innerHeight * 0.6) return // 56: below Streamlit's header
  const begun = performance.now()
  let moved = begun, place = "", isShown = false
  const placeOf = target => {
    const { top, height } = target.getBoundingClientRect()
    return `${Math.round(top)} ${Math.round(height)}`
  }
  const follow = () => {
    const now = performance.now()
    const target = document.querySelector(`.st-key-${key}`) // over a slow connection it comes later, and grows
    if (target && placeOf(target) !== place) {
      target.scrollIntoView({ block: target.offsetHeight > window.innerHeight / 2 ? "start" : "center" })
      place = placeOf(target)
      moved = now
    }
    if (target?.offsetHeight && !isShown) {  // also where there was no need to scroll
      isShown = true
      const outlineOffset = ["6px", "6px"] // text is not touched
      target.animate({ outline: ["var(--ring)", "2px solid transparent"], outlineOffset }, 2000)
    }
    if (document.querySelector("[data-test-script-state=running]")) moved = now // what is to come may push it away
    if ((target && now - moved > STILL) || now - begun > LONGEST) stop()
  }
  const timer = setInterval(follow, 100)
  stop = () => {
    clearInterval(timer)
    for (const kind of OWN) window.removeEventListener(kind, stop)
  }
  for (const kind of OWN) window.addEventListener(kind, stop, { passive: true })
  follow()
}
