// Draws a chart's figure anew as a picture for white paper, in the visitor's browser, and saves it as a file.

const FONT = "DejaVu Sans" // is loaded with the libraries, so that all browsers draw the same
const FONTS = `'${FONT}', Verdana, 'Segoe UI', 'Noto Sans', 'Noto Sans CJK SC', sans-serif` // for whoever reads an SVG
const INK = "#17151f", FAINT = "#55525f"
const LETTERS = 32 / 3, LINE = 15, EDGE = 8 // pixels: 8 points, the height of a line, what is free around the words
const MOST_LINK_LINES = 3 // a longer link is only in the file's metadata
const PIXELS = 96, POINTS = 72, MILLIMETRES = 25.4 // an inch
const MOST_SHAPES = 20_000 // cells of a heatmap; where there are more, they stay an image
const DOTS_ACROSS = 1600 // of an image in a PDF, about
const LACKING = "□", LACKING_NOTE = `${LACKING}: a character that this file's font lacks; the SVG has it.`
const CREATOR = "Transformer Encoder Playground"
const RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#", DUBLIN_CORE = "http://purl.org/dc/elements/1.1/"
const MIMES = { png: "image/png", svg: "image/svg+xml", pdf: "application/pdf" }

const loaded = {}
const once = (address, load) => loaded[address] ??= load(address).catch(error => {
  delete loaded[address] // the next click tries again
  throw error
})
const loadScript = address => once(address, () => new Promise((done, fail) => {
  const script = Object.assign(document.createElement("script"), { src: address, onload: done })
  script.onerror = () => { script.remove(); fail(new Error(`${address} could not be loaded`)) }
  document.head.append(script)
}))
const load = async address => {
  const answer = await fetch(address)
  if (!answer.ok) throw new Error(`${address} could not be loaded`)
  return answer
}
const loadFont = address => once(address, async () => {
  const bytes = await (await load(address)).arrayBuffer()
  document.fonts.add(await new FontFace(FONT, bytes).load())
  return base64(new Uint8Array(bytes))
})

const base64 = bytes => {
  const parts = []
  for (let i = 0; i < bytes.length; i += 0x8000) parts.push(String.fromCharCode(...bytes.subarray(i, i + 0x8000)))
  return btoa(parts.join(""))
}

const printable = text => text.replace(/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069\ufffe\uffff]/gu, "")

// A text in lines of at most so many pixels, broken between `pieces` of it.
const wrap = (pieces, width) => {
  const pen = document.createElement("canvas").getContext("2d"), lines = []
  pen.font = `${LETTERS}px ${FONTS}`
  for (const piece of pieces) {
    const longer = (lines.at(-1) ?? "") + piece
    if (lines.length && pen.measureText(longer.trimEnd()).width <= width) lines[lines.length - 1] = longer
    else lines.push(piece)
  }
  return lines.map(line => line.trim())
}

// A heatmap's image, and how many dots it has: one a cell.
const readCells = async image => {
  const source = Object.assign(new Image(), { src: image.getAttribute("href") ?? image.getAttribute("xlink:href") })
  await source.decode()
  const { naturalWidth: width, naturalHeight: height } = source
  return { source, width, height }
}

const drawOnCanvas = (source, width, height) => {
  const canvas = Object.assign(document.createElement("canvas"), { width, height }), pen = canvas.getContext("2d")
  pen.imageSmoothingEnabled = false
  pen.drawImage(source, 0, 0, width, height)
  return canvas
}

const placeOf = image => ["x", "y", "width", "height"].map(name => Number(image.getAttribute(name)))

// White lines between cells, so many pixels wide: with gaps of its own, Plotly draws no dot a cell but a blurred image.
const drawGaps = (image, { width, height }, gap) => {
  const [x, y, across, down] = placeOf(image)
  const upright = Array.from({ length: width - 1 }, (_, i) => `M${x + (i + 1) * across / width} ${y}v${down}`)
  const level = Array.from({ length: height - 1 }, (_, i) => `M${x} ${y + (i + 1) * down / height}h${across}`)
  image.after(svgElement("path", { d: [...upright, ...level].join(""), stroke: "#ffffff", "stroke-width": gap }))
}

// The cells as shapes, one of each colour: most readers of SVG blur an image that they enlarge.
const drawShapes = (image, { source, width, height }) => {
  if (width * height > MOST_SHAPES) return
  const { data } = drawOnCanvas(source, width, height).getContext("2d").getImageData(0, 0, width, height)
  const colours = new Uint32Array(data.buffer), shapes = new Map()
  for (let row = 0; row < height; row++) {
    for (let first = 0, last; first < width; first = last) {
      const colour = colours[row * width + first]
      for (last = first + 1; last < width && colours[row * width + last] === colour;) last++
      if (colour >>> 24) shapes.set(colour, `${shapes.get(colour) ?? ""}M${first} ${row}h${last - first}v1H${first}z`)
    }
  }
  const [x, y, across, down] = placeOf(image)
  const transform = `matrix(${across / width} 0 0 ${down / height} ${x} ${y})`
  const cells = svgElement("g", { class: "cells", "shape-rendering": "crispEdges", transform })
  for (const [colour, d] of shapes) {
    const rgb = [0, 8, 16].map(bits => (colour >> bits & 255).toString(16).padStart(2, "0")).join("")
    cells.append(svgElement("path", { d, fill: `#${rgb}`, "fill-opacity": (colour >>> 24) / 255 }))
  }
  image.replaceWith(cells)
}

// The cells as an image of many dots each: most readers of PDF blur few dots, and show seams between shapes.
const enlarge = (image, { source, width, height }) => {
  const times = Math.max(1, Math.round(DOTS_ACROSS / width))
  image.setAttribute("href", drawOnCanvas(source, times * width, times * height).toDataURL())
  image.removeAttribute("xlink:href")
}

// The picture as an SVG element: Plotly's drawing, with caption and link below it. `change` alters every heatmap's image;
// a character for which `has` is false has a box instead.
const drawPicture = async ({ figure, caption, title, link }, change, has = () => true) => {
  const { data, layout } = JSON.parse(figure), { width, height } = layout, room = width - 2 * EDGE
  const gap = Math.max(0, ...data.map(trace => trace.xgap ?? 0))
  for (const trace of data) delete trace.xgap, delete trace.ygap
  const drawn = await Plotly.toImage({ data, layout, config: { staticPlot: true } },
    { format: "svg", width: room, height, imageDataOnly: true })
  const svg = new DOMParser().parseFromString(drawn, "image/svg+xml").documentElement
  for (const image of svg.querySelectorAll("image")) {
    const cells = await readCells(image)
    if (gap) drawGaps(image, cells, gap)
    change(image, cells)
  }
  for (const { style, parentNode } of svg.querySelectorAll("tspan[style*='%']")) { // as few readers know shares
    style.fontSize = `${parseFloat(style.fontSize) / 100 * parseFloat(parentNode.style.fontSize)}px`
  }
  let isLacking = false
  const fit = text => Array.from(printable(text), letter => {
    if (has(letter)) return letter
    isLacking = true
    return LACKING
  }).join("")
  const texts = document.createTreeWalker(svg, NodeFilter.SHOW_TEXT)
  while (texts.nextNode()) texts.currentNode.data = fit(texts.currentNode.data)
  const lines = wrap(fit(caption).match(/\S+\s*/g) ?? [], room)
  if (isLacking) lines.push(LACKING_NOTE)
  const linkLines = wrap([...printable(link)], room)
  if (linkLines.length > MOST_LINK_LINES) linkLines.length = 0
  const words = svgElement("g", { class: "words", "font-family": FONTS, "font-size": LETTERS })
  for (const [number, line] of [...lines, ...linkLines].entries()) {
    const fill = number < lines.length ? INK : FAINT
    words.append(svgElement("text", { x: 0, y: height + (number + 0.8) * LINE, fill }, line))
  }
  const whole = height + (lines.length + linkLines.length) * LINE + 2 * EDGE
  const about = { title, description: caption, source: link, creator: CREATOR }
  const metadata = svgElement("metadata", {})
  const described = metadata.appendChild(document.createElementNS(RDF, "rdf:RDF"))
    .appendChild(document.createElementNS(RDF, "rdf:Description"))
  for (const [name, text] of Object.entries(about)) {
    described.appendChild(document.createElementNS(DUBLIN_CORE, `dc:${name}`)).textContent = printable(text)
  }
  const paper = svgElement("rect", { x: -EDGE, y: -EDGE, width, height: whole, fill: "#ffffff" })
  const description = svgElement("desc", {}, printable(`${caption} ${link}`))
  svg.prepend(svgElement("title", {}, printable(title)), description, metadata, paper)
  svg.append(words)
  svg.setAttribute("viewBox", `${-EDGE} ${-EDGE} ${width} ${whole}`)
  svg.setAttribute("width", `${width / PIXELS * MILLIMETRES}mm`)
  svg.setAttribute("height", `${whole / PIXELS * MILLIMETRES}mm`)
  return { svg, width, height: whole }
}

const writeSvg = svg => new TextEncoder().encode(new XMLSerializer().serializeToString(svg))

const checksum = bytes => { // of a PNG's chunk (ISO 15948, annex D)
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc >>> 1 ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}

const textChunk = (name, text) => {
  const content = new TextEncoder().encode(`iTXt${name}\0\0\0\0\0${text}`)
  const chunk = new Uint8Array(content.length + 8), view = new DataView(chunk.buffer)
  view.setUint32(0, content.length - 4)
  chunk.set(content, 4)
  view.setUint32(content.length + 4, checksum(content))
  return chunk
}

const writePng = async (picture, font) => {
  const { svg, width, height } = await drawPicture(picture, () => {})
  svg.prepend(svgElement("style", {}, `@font-face {font-family: "${FONT}"; src: url("data:font/ttf;base64,${font}")}`))
  const size = { width: Math.round(2 * width), height: Math.round(2 * height) }
  for (const [name, dots] of Object.entries(size)) svg.setAttribute(name, dots)
  const file = new Blob([writeSvg(svg)], { type: MIMES.svg })
  const source = Object.assign(new Image(), { src: URL.createObjectURL(file) })
  await source.decode()
  const canvas = drawOnCanvas(source, size.width, size.height)
  URL.revokeObjectURL(source.src)
  const blob = await new Promise(done => canvas.toBlob(done, MIMES.png))
  if (!blob) throw new Error("this browser has no canvas of this size")
  const bytes = new Uint8Array(await blob.arrayBuffer()), head = 33 // the signature and the first chunk
  const { caption, title, link } = picture
  const texts = Object.entries({ Title: title, Description: caption, Source: link, Software: CREATOR })
    .map(([name, text]) => textChunk(name, printable(text)))
  return new Blob([bytes.subarray(0, head), ...texts, bytes.subarray(head)])
}

const writePdf = async (picture, font) => {
  const pdf = new jspdf.jsPDF({ unit: "pt", compress: true })
  pdf.addFileToVFS("font.ttf", font)
  for (const look of ["normal", "bold", "italic"]) pdf.addFont("font.ttf", FONT, look)
  const { codeMap } = pdf.getFont(FONT, "normal").metadata.cmap.unicode
  const { svg, width, height } = await drawPicture(picture, enlarge, letter => letter.codePointAt(0) in codeMap)
  const size = [width, height].map(side => side * POINTS / PIXELS)
  pdf.addPage(size, width > height ? "landscape" : "portrait").deletePage(1)
  svg.style.cssText = "position: fixed; left: -9999px"
  document.body.append(svg) // its words are measured there
  try {
    await pdf.svg(svg, { width: size[0], height: size[1] })
  } finally {
    svg.remove()
  }
  const { caption, title, link } = picture
  pdf.setProperties({ title: printable(title), subject: printable(caption), keywords: printable(link), creator: CREATOR })
  return pdf.output("arraybuffer")
}

// The bytes of a picture in a format; `libraries` is the folder that the server gives them from.
const makeFile = async (format, picture, libraries) => {
  const [font] = await Promise.all([loadFont(`${libraries}/DejaVuSans.ttf`), loadScript(`${libraries}/plotly.min.js`)])
  if (format === "png") return writePng(picture, font)
  if (format === "svg") return writeSvg((await drawPicture(picture, drawShapes)).svg)
  for (const name of ["jspdf", "svg2pdf"]) await loadScript(`${libraries}/${name}.umd.min.js`)
  return writePdf(picture, font)
}

const save = (bytes, format, name) => {
  const link = htmlElement("a")
  link.href = URL.createObjectURL(new Blob([bytes], { type: MIMES[format] }))
  link.download = `${name}.${format}`
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

export default function ({ data: [data], parentElement }) {
  const [buttons, status] = parentElement.querySelectorAll(".formats, [role=status]")
  if (!buttons.children.length) {
    buttons.replaceChildren(...Object.keys(MIMES).map(format => htmlElement("button", format, format.toUpperCase())))
    status.textContent = ""
  }
  for (const button of buttons.children) {
    button.onclick = async () => {
      if (status.ariaBusy === "true") return // one after the other
      status.ariaBusy = "true"
      status.textContent = "Drawing …"
      try {
        const picture = { ...data, figure: await (await load(data.figure)).text() }
        save(await makeFile(button.className, picture, data.libraries), button.className, data.name)
        status.textContent = ""
      } catch (error) {
        console.warn(error)
        status.textContent = "This browser could not draw the picture: what draws may not have arrived. Try again."
      }
      status.ariaBusy = "false"
    }
  }
}
