/** Colours of the page, and settings that all charts share. */
export interface Colours {
  readonly text: string
  readonly quiet: string
  readonly line: string
  readonly surface: string
  readonly accent: string
  readonly before: string
  readonly bad: string
  readonly series: readonly string[]
}

export const MOST_COLOURS = 6

export function coloursOf(element: Element): Colours {
  const style = getComputedStyle(element)
  const read = (name: string) => style.getPropertyValue(name).trim()
  return {
    text: read('--text'),
    quiet: read('--text-faint'),
    line: read('--line'),
    surface: read('--raised'),
    accent: read('--accent'),
    before: read('--before'),
    bad: read('--bad'),
    series: Array.from({ length: MOST_COLOURS }, (_, place) => read(`--series-${place + 1}`)),
  }
}

/** A single series has the accent colour. Of several, those after the sixth are grey. */
export const colourOf = (colours: Colours, place: number, size: number): string =>
  size === 1 ? colours.accent : (colours.series[place] ?? colours.before)

export const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

export const tooltip = ({ surface, text, line }: Colours) => ({
  backgroundColor: surface,
  borderColor: line,
  textStyle: { color: text, fontSize: 13 },
  confine: true,
})

export const axisText = ({ quiet }: Colours) => ({ color: quiet, fontSize: 12 })

export const FONT = { fontFamily: "'Inter Variable', system-ui, sans-serif" }
