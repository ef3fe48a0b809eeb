/** Builds the text that Grafana sends for a statement of a template: macros and variables are inserted. */
import type { Engine } from '../../src/dashboards/grafana/text.ts'

const MOMENTS: Readonly<Record<Engine, (moment: Date) => string>> = {
  postgres: (moment) => `'${moment.toISOString().replace(/\.\d+Z$/, 'Z')}'`,
  mysql: (moment) => `FROM_UNIXTIME(${Math.floor(moment.getTime() / 1000)})`,
}
const quote = (value: string) => `'${value.replaceAll("'", "''")}'`

export interface Interpolation {
  readonly from: Date
  readonly to: Date
  readonly values: Readonly<Record<string, string | readonly string[]>>
}

export function asGrafana(engine: Engine, text: string, { from, to, values }: Interpolation): string {
  const known = new Map(Object.entries(values))
  return text
    .replaceAll('$__timeFrom()', MOMENTS[engine](from))
    .replaceAll('$__timeTo()', MOMENTS[engine](to))
    .replace(/\$\{(\w+):sqlstring\}/g, (whole, name) => {
      const value = known.get(name)
      return value === undefined ? whole : [value].flat().map(quote).join(',')
    })
}
