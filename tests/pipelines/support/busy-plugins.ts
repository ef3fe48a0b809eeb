/** A plugin whose passes look things up while they read. Worker threads load this file too. */
import { definePlugin } from '../../../src/plugin-kit/define/define-plugin.ts'
import { pluginKit } from '../../../src/plugin-kit/spec/entity.ts'
import { byKey } from '../../../src/plugin-kit/spec/lookups.ts'
import type { Plugin } from '../../../src/plugin-kit/spec/plugin.ts'
import { boardEntity, boards, issues, sampleSpec } from '../../support/sample-plugin.ts'

const entity = pluginKit('sample').entityMaker<{ id: number }, { prefix: string }>({ scopeColumn: null })
const busyIssues = entity(issues, {
  label: 'Issues',
  domainTypes: ['TICKET'],
  raw: 'sample_issues',
  extract: {
    lookups: { board: byKey(boards, 'id', ({ board }) => board) },
    rows: (issue, { read, lookups }) =>
      issue.title ? [read(issues, issue, { body: lookups.board.get(issue.board)?.name ?? '' })] : [],
  },
})

export const busy = definePlugin({ ...sampleSpec, entities: [busyIssues, boardEntity] })
export const plugins: readonly Plugin[] = [busy]
