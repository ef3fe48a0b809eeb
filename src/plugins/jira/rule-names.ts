/** The names that rules of Jira refer to, some of which are read from Jira, and the probable meaning of its issue types. */

import { byName } from '../../basics/by-name.ts'
import type { RawRecord } from '../../database/table.ts'
import {
  type FoundName,
  type FoundNames,
  issueTitles,
  type NameKinds,
  type NameSample,
  type RuleSuggestion,
} from '../../plugin-kit/index.ts'
import { issueFields } from './entities/issue-fields.ts'
import { issues } from './issue.ts'
import { boardIssues } from './kit.ts'
import { STANDARD_TYPES } from './rules.ts'

const OF_BOARD = {
  scope: ['board_id', 'board_id'] as const,
  through: { table: boardIssues, on: { connection_id: 'connection_id', issue_id: 'issue_id' } },
}

export const ruleNames: NameKinds = {
  types: { title: 'issue types', table: issues, column: 'type', ...OF_BOARD },
  statuses: { title: 'statuses', table: issues, column: 'status_name', groupColumn: 'status_key', ...OF_BOARD },
  issueTitles: issueTitles({ table: issues, column: 'summary', description: 'description', ...OF_BOARD }),
  fields: {
    title: 'fields',
    table: issueFields,
    column: 'id',
    labelColumn: 'name',
    scope: ['board_id', 'board_id'],
  },
}

// https://developer.atlassian.com/cloud/jira/software/rest/api-group-board, and …/platform/rest/v2/api-group-issue-fields
export const ruleSamples: readonly NameSample[] = [
  {
    request: ({ board_id }) => ({
      path: `agile/1.0/board/${board_id}/issue`,
      query: { maxResults: 100, fields: 'issuetype,status,summary', jql: 'ORDER BY created DESC' },
    }),
    *names({ issues: found }) {
      for (const { fields } of found) {
        yield { kind: 'types', name: fields.issuetype?.name ?? '' }
        if (fields.summary) yield { kind: 'issueTitles', name: fields.summary }
        const { name = '', statusCategory } = fields.status ?? {}
        yield { kind: 'statuses', name, group: statusCategory?.key ?? '' }
      }
    },
  },
  {
    isForAll: true,
    request: () => ({ path: 'api/2/field' }),
    *names(fields: readonly RawRecord[]) {
      for (const { id, name } of fields) yield { kind: 'fields', name: id, label: name, isUncounted: true }
    },
  },
]

/** Patterns in the languages that Jira is mostly used in. */
const LOOKS_LIKE: readonly (readonly [type: string, name: RegExp])[] = [
  ['INCIDENT', /incident|outage|störung|incidente|panne/i],
  ['BUG', /bug|defect|fehler|error|anomalie/i],
  ['REQUIREMENT', /story|feature|improvement|requirement|anforderung|historia|récit/i],
]
const USUAL = byName(STANDARD_TYPES ?? {})
const meaningOf = (name: string) =>
  USUAL[name]?.standardType ?? LOOKS_LIKE.find(([, pattern]) => pattern.test(name))?.[0]

export function suggestIssueRules(found: FoundNames): RuleSuggestion[] {
  const types = found.get('types') ?? []
  const meant = types.flatMap(({ name }) => {
    const standardType = meaningOf(name)
    return standardType ? [[name, { standardType }] as const] : []
  })
  const points = (found.get('fields') ?? []).find(({ label }) => /^story points?( estimate)?$/i.test(label))
  return [
    { field: 'typeMappings', ...(meant.length > 0 ? suggested(types, meant) : usual(types)) },
    ...(points
      ? [
          {
            field: 'storyPointField',
            value: points.name,
            reason: `Jira calls this field “${points.label}”.`,
            isFound: true,
          },
        ]
      : []),
  ]
}

function suggested(
  types: readonly FoundName[],
  meant: readonly (readonly [name: string, mapping: { readonly standardType: string }])[],
) {
  const hasIncidents = meant.some(([, { standardType }]) => standardType === 'INCIDENT')
  const count = `${meant.length} of ${types.length} issue types`
  const reason = hasIncidents
    ? `${count} have names that say what they are.`
    : `${count} have names that say what they are; none of them looks like an incident.`
  return { value: Object.fromEntries(meant), reason, isFound: true }
}

const usual = (types: readonly FoundName[]) => ({
  value: STANDARD_TYPES,
  isFound: false,
  reason:
    types.length === 0 ? 'No issue types are known yet; these are usual.' : 'None of the issue types is a usual one.',
})
