const STEPS = '▁▂▃▄▅▆▇█'

/** One character for each value, from the least to the most; a dot for a missing value. */
export function sparkline(values: readonly (number | null)[]): string {
  const known = values.filter((value) => value !== null)
  const least = Math.min(...known)
  const span = Math.max(...known) - least
  const letterOf = (value: number) => STEPS[span === 0 ? 3 : Math.round(((value - least) / span) * (STEPS.length - 1))]
  return values.map((value) => (value === null ? '·' : letterOf(value))).join('')
}
