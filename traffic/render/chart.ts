import type { Simulation } from './simulate.ts'

/** With ten lines, each line is one tenth. */
const HEIGHT = 10
const LEVELS = ' ▁▂▃▄▅▆▇█'

/** The target's share over time as blocks, for a terminal of `width` columns. */
export function chart(simulation: Simulation, width = 72): string {
  const columns = Math.min(width, simulation.minutes.length)
  const shares = Array.from({ length: columns }, (_, column) => {
    const from = Math.floor((column * simulation.minutes.length) / columns)
    const to = Math.max(from + 1, Math.floor(((column + 1) * simulation.minutes.length) / columns))
    const span = simulation.minutes.slice(from, to)
    const requests = span.reduce((total, minute) => total + minute.requests, 0)
    return requests === 0
      ? 0
      : span.reduce((total, minute) => total + minute.targetShare * minute.requests, 0) / requests
  })
  const lines = Array.from({ length: HEIGHT }, (_, line) => {
    const bottom = HEIGHT - 1 - line
    const cells = shares.map((share) => LEVELS[Math.max(0, Math.min(8, Math.round((share * HEIGHT - bottom) * 8)))])
    return `${`${Math.round(((bottom + 1) / HEIGHT) * 100)}`.padStart(4)} % │${cells.join('')}`
  })
  const last = `${simulation.minutes.length} min`
  return [
    'share of requests that reach the target',
    ...lines,
    `       └${'─'.repeat(columns)}`,
    `        0${last.padStart(Math.max(columns - 1, last.length + 1))}`,
    `requests ${simulation.requests}, errors ${simulation.errors}, 99 % on the target ${
      simulation.timeTo99Seconds === null ? 'never' : `${simulation.timeTo99Seconds} s after the last step began`
    }`,
  ].join('\n')
}
