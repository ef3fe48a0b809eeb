/** The measures of files. SonarQube returns at most 15 at once, so two lists fill different columns of one table. */
import { createHash } from 'node:crypto'
import type { RawRecord, RowOf } from '../../database/table.ts'
import { bigint, double, indexed, key, string, text } from '../../database/table.ts'
import { byKey } from '../../plugin-kit/index.ts'
import { type Project, table } from './kit.ts'

const measureOf = (measures: unknown, metric: string): string | undefined =>
  (Array.isArray(measures) ? measures : []).find((each) => each?.metric === metric)?.value
const count = (metric: string) =>
  bigint(({ measures }: RawRecord) => Math.trunc(Number(measureOf(measures, metric) ?? 0)))
/** In the precision with which DevLake reads it. */
const share = (metric: string) =>
  double(({ measures }: RawRecord) => Math.fround(Number(measureOf(measures, metric) ?? 0)))
/** 1.0 is A, the best. */
const rating = (metric: string) =>
  string(20, ({ measures }: RawRecord) => 'ABCDE'[Number(measureOf(measures, metric) ?? 0) - 1] ?? '')

const main = {
  code_smells: count('code_smells'),
  sqale_index: count('sqale_index'),
  sqale_rating: share('sqale_rating'),
  bugs: count('bugs'),
  reliability_rating: rating('reliability_rating'),
  vulnerabilities: count('vulnerabilities'),
  security_rating: rating('security_rating'),
  security_hotspots: count('security_hotspots'),
  security_hotspots_reviewed: share('security_hotspots_reviewed'),
  security_review_rating: rating('security_review_rating'),
  ncloc: count('ncloc'),
  coverage: share('coverage'),
  uncovered_lines: count('uncovered_lines'),
  lines_to_cover: count('lines_to_cover'),
}
const additional = {
  duplicated_lines_density: share('duplicated_lines_density'),
  duplicated_blocks: count('duplicated_blocks'),
  duplicated_lines: count('duplicated_lines'),
  duplicated_files: count('duplicated_files'),
  complexity: count('complexity'),
  cognitive_complexity: count('cognitive_complexity'),
  effort_to_reach_maintainability_rating_a: count('effort_to_reach_maintainability_rating_a'),
  num_of_lines: count('lines'),
}
const HALVES = { main: Object.keys(main), additional: Object.keys(additional) }
type Half = keyof typeof HALVES

/** As in DevLake, a hash, because the key of a file may be longer than an id. */
export const fileKey = ({ key }: RawRecord): string => createHash('sha1').update(String(key)).digest('hex')

export const fileMetrics = table('file_metrics', 'SonarqubeFileMetrics', {
  file_metrics_key: key(string(500, fileKey)),
  project_key: indexed(string(191, (_file, { scope }) => scope.project_key)),
  file_name: string(2000, 'name'),
  file_path: text('path'),
  file_language: string(20, 'language'),
  ...main,
  ...additional,
})
type FileMetrics = RowOf<typeof fileMetrics>

const metricOf = (column: string): string => (column === 'num_of_lines' ? 'lines' : column)

export const measuresOf = (half: Half, { project_key }: Project) => ({
  path: 'measures/component_tree',
  query: {
    component: project_key,
    qualifiers: 'FIL',
    s: 'path',
    metricKeys: HALVES[half].map(metricOf).join(','),
  },
})

/** The columns of a file that the other list has filled. */
export const knownFile = byKey(fileMetrics, 'file_metrics_key', fileKey)
export const halfOf = (half: Half, file: FileMetrics | undefined): Partial<FileMetrics> =>
  Object.fromEntries(Object.entries(file ?? {}).filter(([column]) => HALVES[half].includes(column)))
