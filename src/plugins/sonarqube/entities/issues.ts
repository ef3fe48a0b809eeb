import type { RawRecord } from '../../../database/table.ts'
import { bigint, indexed, key, string, text, timestamp } from '../../../database/table.ts'
import { cqIssues } from '../../../domain/quality.ts'
import { pageNumber } from '../../../plugin-kit/index.ts'
import { CAP, entity, hasProject, PAGE_SIZE, projects, shortKey, table } from '../kit.ts'
import { SPLIT_VALUES, splitQuery } from '../split-issues.ts'

const placeColumns = {
  start_line: bigint('textRange.startLine'),
  end_line: bigint('textRange.endLine'),
  start_offset: bigint('textRange.startOffset'),
  end_offset: bigint('textRange.endOffset'),
}

export const issues = table('issues', 'SonarqubeIssue', {
  issue_key: key(string(100, 'key')),
  rule: string(),
  severity: string(100),
  component: text(),
  project_key: indexed(string('project')),
  line: bigint(),
  status: string(20),
  message: text(),
  debt: bigint(({ debt }) => minutesIn(debt)),
  effort: bigint(({ effort }) => minutesIn(effort)),
  author: string(100),
  hash: string(100),
  tags: text(({ tags }) => (Array.isArray(tags) ? tags.join(',') : '')),
  type: string(100),
  scope: string(),
  ...placeColumns,
  creation_date: timestamp('creationDate'),
  update_date: timestamp('updateDate'),
})

export const codeBlocks = table('issue_code_blocks', 'SonarqubeIssueCodeBlock', {
  id: key(string(100)),
  issue_key: indexed(string(191)),
  component: text(),
  ...placeColumns,
  msg: text(),
})

export const issueImpacts = table('issue_impacts', 'SonarqubeIssueImpact', {
  issue_key: key(string(100)),
  software_quality: key(string('softwareQuality')),
  severity: string(100),
})

const MINUTES = new Map(Object.entries({ d: 8 * 60, h: 60, min: 1 }))
/** Converts a duration such as `1d2h30min` into minutes. A day has 8 hours. */
const minutesIn = (duration: unknown): number =>
  [...String(duration ?? '').matchAll(/(\d{1,15})(d|h|min)/g)].reduce(
    (sum, [, number, unit]) => sum + Number(number) * (MINUTES.get(unit as string) ?? 0),
    0,
  )

/** Returns the place of an issue, and every other place that it refers to. */
const placesOf = (issue: RawRecord): RawRecord[] => [
  { component: issue.component, textRange: issue.textRange, msg: issue.message },
  ...(issue.flows ?? []).flatMap(({ locations }: RawRecord) => locations ?? []),
]

const blockOf = (issue_key: string, { component = '', textRange, msg = '' }: RawRecord) => ({
  issue_key,
  component,
  msg,
  start_line: textRange?.startLine ?? 0,
  end_line: textRange?.endLine ?? 0,
  start_offset: textRange?.startOffset ?? 0,
  end_offset: textRange?.endOffset ?? 0,
})

const second = (time: Date) => time.toISOString().replace('.000Z', '+0000')
const ofIssue = { connection_id: 'connection_id', issue_key: 'issue_key' }

export default entity(issues, {
  label: 'Issues',
  names: { collect: 'CollectIssues', extract: 'ExtractIssues' },
  domainTypes: ['CODEQUALITY'],
  raw: 'sonarqube_api_issues',
  collect: {
    when: hasProject,
    request: ({ scope, server }) => ({
      path: 'issues/search',
      query: { [server.projectParam]: scope.project_key, s: 'CREATION_DATE', asc: true },
    }),
    // Pages are read one after the other and without a total, because the ids of code blocks depend on the order of issues.
    paging: pageNumber({ size: PAGE_SIZE, pageParam: 'p', sizeParam: 'ps' }),
    records: ({ issues }) => issues,
    key: ({ key }) => key,
    isOwn: ({ project }, { scope }) => project === scope.project_key,
    windows: {
      cap: CAP,
      isWhole: true,
      earliest: new Date('1990-01-01T00:00:00Z'), // the date of an issue is that of the commit that caused it
      isEndExclusive: true,
      query: ({ from, to }) => ({ createdAfter: second(from), createdBefore: second(to) }),
      total: ({ body }) => body.paging?.total ?? body.total,
      split: { values: SPLIT_VALUES, query: splitQuery },
    },
  },
  extract: {
    owns: [
      { table: codeBlocks, by: ofIssue },
      { table: issueImpacts, by: ofIssue },
    ],
    *rows(issue, { read, scopeConfig, connectionId }) {
      yield read(issues, issue)
      for (const place of placesOf(issue)) {
        const block = blockOf(issue.key, place)
        yield codeBlocks.row({ connection_id: connectionId, id: scopeConfig.blockIdOf(block), ...block })
      }
      const impacts: readonly RawRecord[] = issue.impacts ?? []
      for (const impact of impacts) yield read(issueImpacts, impact, { issue_key: issue.key })
    },
  },
  convert: {
    to: [cqIssues],
    rows: (issue, { idOf }) => [
      cqIssues.row({
        id: idOf(issues, issue.issue_key),
        rule: issue.rule,
        severity: issue.severity,
        component: issue.component,
        project_key: idOf(projects, shortKey(issue.project_key)),
        line: issue.line,
        status: issue.status,
        message: issue.message,
        debt: issue.debt,
        effort: issue.effort,
        commit_author_email: issue.author,
        hash: issue.hash,
        tags: issue.tags,
        type: issue.type,
        scope: issue.scope,
        start_line: issue.start_line,
        end_line: issue.end_line,
        start_offset: issue.start_offset,
        end_offset: issue.end_offset,
        created_date: issue.creation_date,
        updated_date: issue.update_date,
      }),
    ],
  },
})
