/** Groups as a CSV file. Reading one takes long enough to be done in a thread. */
import { openCsv, requireColumns } from '../../plugin-kit/push/csv.ts'
import { toCsv, unescaped } from '../../plugin-kit/push/csv-text.ts'
import type { Group } from './groups.ts'

const NAME = 'groups.csv'
const COLUMNS = ['group', 'parent', 'project'] as const

/** One line per project of a group; a group without a project of its own has one line. */
export const writeGroups = (groups: readonly Group[]): string =>
  toCsv(
    COLUMNS,
    groups.flatMap(({ name, parent, projects }) =>
      (projects.length === 0 ? [''] : projects).map((project) => ({ group: name, parent: parent ?? '', project })),
    ),
  )

export interface GroupLine {
  readonly line: number
  readonly group: string
  /** Undefined if the file does not have the column. */
  readonly parent: string | undefined
  readonly project: string
}

export async function readGroupFile(csv: string): Promise<GroupLine[]> {
  const { header, records } = await openCsv(NAME, Buffer.from(csv), unescaped)
  requireColumns(NAME, header, { known: COLUMNS, needed: ['group'] })
  const lines: GroupLine[] = []
  for await (const { line, cells } of records) {
    const { group = '', parent, project = '' } = cells
    lines.push({ line, group: group.trim(), parent: parent?.trim(), project: project.trim() })
  }
  return lines
}
