/* What runs inside a page is text: this project knows no DOM types. */

export interface PageSize {
  readonly wide: number
  readonly seen: number
  /** Pixels of the body's text. */
  readonly font: number
}

export const sizeScript = `({
  wide: document.documentElement.scrollWidth,
  seen: document.documentElement.clientWidth,
  font: parseFloat(getComputedStyle(document.body).fontSize),
})`

/** Texts whose contrast with what is behind them is under 4.5 to 1 (WCAG 2.2, 1.4.3). */
export const faintScript = `(() => {
  const rgb = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number)
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4))
    return 0.2126 * x + 0.7152 * y + 0.0722 * z
  }
  const behind = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      const color = rgb(getComputedStyle(at).backgroundColor)
      if ((color[3] ?? 1) > 0) return color
    }
    return [255, 255, 255]
  }
  const faint = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement
    const text = walker.currentNode.textContent.trim()
    if (text === '' || element.closest('script, style, noscript, option, .skip, .hidden-text') !== null) continue
    const [a, b] = [light(rgb(getComputedStyle(element).color)), light(behind(element))]
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
    if (ratio < 4.5) faint.push(text.slice(0, 30) + ' ' + ratio.toFixed(2))
  }
  return faint
})()`
