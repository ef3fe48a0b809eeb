import { bigint, key } from '../../../database/table.ts'
import { pullRequestIssues as domainPullRequestIssues } from '../../../domain/crossdomain.ts'
import { byKey } from '../../../plugin-kit/index.ts'
import { entity, table } from '../kit.ts'
import { issues } from './issues.ts'
import { joinPullRequest, ofRepo, PULL_REQUEST_RAW, pullRequests } from './pull-requests.ts'

const pullRequestIssues = table('pull_request_issues', 'GithubPrIssue', {
  pull_request_id: key(bigint()),
  issue_id: key(bigint()),
  pull_request_number: bigint(),
  issue_number: bigint(),
})

/** Returns every number in a text. The numbers of the issues that it closes are among them. */
const numbersIn = (text: string): number[] => (text.match(/\d{1,15}/g) ?? []).map(Number)

/** Finds the issues that the text of a pull request claims to close. */
export const enrich = entity(pullRequests, {
  label: 'PR Issues',
  names: { convert: 'Enrich PR Issues' },
  domainTypes: ['CROSS'],
  convert: {
    to: [pullRequestIssues],
    replaces: PULL_REQUEST_RAW,
    dependsOn: ['prBodyClosePattern'],
    lookups: {
      issues: byKey(
        issues,
        'number',
        ({ body }) => numbersIn(body),
        ({ github_id }) => ({ repo_id: github_id }),
      ),
    },
    *rows(pull, { scope, scopeConfig, lookups }) {
      const matcher = scopeConfig.closingPattern(scope.full_name)?.matcher(pull.body)
      if (!matcher?.find()) return
      // Only the first match counts, and in it only numbers that are separate words.
      for (const part of (matcher.group() ?? '').split(/[a-zA-Z/\s,#]+/)) {
        const issue = /^\d+$/.test(part) && lookups.issues.get(Number(part))
        if (!issue) continue
        yield pullRequestIssues.row({
          connection_id: pull.connection_id,
          pull_request_id: pull.github_id,
          issue_id: issue.github_id,
          pull_request_number: pull.number,
          issue_number: issue.number,
        })
      }
    },
  },
})

export default entity(pullRequestIssues, {
  label: 'PR Issues',
  domainTypes: ['CROSS'],
  convert: {
    to: [domainPullRequestIssues],
    joins: joinPullRequest,
    where: ofRepo,
    replaces: PULL_REQUEST_RAW,
    rows: (link, { idOf }) => [
      domainPullRequestIssues.row({
        pull_request_id: idOf(pullRequests, link.pull_request_id),
        issue_id: idOf(issues, link.issue_id),
        pull_request_key: link.pull_request_number,
        issue_key: String(link.issue_number),
      }),
    ],
  },
})
