/** The names that rules of Linear refer to, and a request that reads some of them: the newest issues of a team. */
import type { RawRecord } from '../../database/table.ts'
import { issueTitles, type NameKinds, type NameSample } from '../../plugin-kit/index.ts'
import { issueLabels, issues } from './entities/issues.ts'
import { ask } from './kit.ts'

const OF_TEAM = ['team_id', 'team_id'] as const

export const ruleNames: NameKinds = {
  labels: {
    title: 'labels of issues',
    table: issueLabels,
    column: 'label_name',
    scope: OF_TEAM,
    through: { table: issues, on: { connection_id: 'connection_id', id: 'issue_id' } },
  },
  issueTitles: issueTitles({ table: issues, column: 'title', description: 'description', scope: OF_TEAM }),
}

export const sampleQuery = `query sample($team: String!) {
  team(id: $team) { issues(first: 100) { nodes { title labels(first: 20) { nodes { name } } } } }
}`

export const ruleSamples: readonly NameSample[] = [
  {
    request: ({ team_id }) => ask(sampleQuery, { team: team_id }),
    *names({ data }) {
      for (const { title, labels } of data.team?.issues.nodes ?? []) {
        if (title) yield { kind: 'issueTitles', name: title }
        yield* labels.nodes.map(({ name }: RawRecord) => ({ kind: 'labels', name }))
      }
    },
  },
]
