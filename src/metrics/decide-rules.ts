import { decideIssue } from './preview-issues.ts'
import type { Decision, Rules, Subject } from './preview-rules.ts'
import { decideEnvironment, decideJob, decideRun, ENVIRONMENT_TABLES } from './preview-runs.ts'

const DECISIONS = new Map<string, (rules: Rules, subject: Subject) => Decision>([
  ['issues', decideIssue],
  ['cicd_tasks', decideJob],
  ['cicd_pipelines', decideRun],
  ...ENVIRONMENT_TABLES.map((table) => [table, decideEnvironment] as const),
])

/** What rules make of rows of a table. It matches patterns of users: not while a request is answered. */
export function decideRules(table: string, rules: Rules, subjects: readonly Subject[]): readonly Decision[] {
  const decide = DECISIONS.get(table)
  if (!decide) throw new Error(`no rules are about ${table}`)
  return subjects.map((subject) => decide(rules, subject))
}
