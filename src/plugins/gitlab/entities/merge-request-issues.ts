import { pullRequestIssues } from '../../../domain/crossdomain.ts'
import { byKey } from '../../../plugin-kit/index.ts'
import { entity } from '../kit.ts'
import { issues } from './issues.ts'
import { MERGE_REQUEST_RAW, mergeRequests } from './merge-requests.ts'

/** Finds issues that a text names: `#12`, `group/project#12`, or the address of their page. */
const numbersIn = (text: string): number[] =>
  [...text.matchAll(/(?:#|\/issues\/)(\d{1,15})/g)].map(([, number]) => Number(number))

/** The issues that the description of a merge request claims to close. DevLake has the pattern but does not use it. */
export default entity(mergeRequests, {
  label: 'MR Issues',
  domainTypes: ['CROSS'],
  convert: {
    to: [pullRequestIssues],
    replaces: MERGE_REQUEST_RAW,
    dependsOn: ['prBodyClosePattern'],
    lookups: {
      issues: byKey(
        issues,
        'number',
        ({ description }) => numbersIn(description),
        ({ gitlab_id }) => ({ project_id: gitlab_id }),
      ),
    },
    *rows({ gitlab_id, iid, description }, { idOf, scope, scopeConfig, lookups }) {
      const matcher = scopeConfig.closingPattern(scope.path_with_namespace)?.matcher(description)
      const numbers = new Set<number>()
      while (matcher?.find()) for (const number of numbersIn(matcher.group() ?? '')) numbers.add(number)
      for (const number of numbers) {
        const issue = lookups.issues.get(number)
        if (!issue) continue
        yield pullRequestIssues.row({
          pull_request_id: idOf(mergeRequests, gitlab_id),
          issue_id: idOf(issues, issue.gitlab_id),
          pull_request_key: iid,
          issue_key: String(number),
        })
      }
    },
  },
})
