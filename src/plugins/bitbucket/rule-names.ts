/** The names that rules of Bitbucket refer to, and requests that read some of them, one page of each. */
import type { RawRecord } from '../../database/table.ts'
import { issueTitles, type NameKinds, type NameSample } from '../../plugin-kit/index.ts'
import { environments } from './entities/deployments.ts'
import { issues } from './entities/issues.ts'
import { pipelines } from './entities/pipelines.ts'
import { steps } from './entities/steps.ts'
import { inRepo } from './kit.ts'

const OF_REPO = ['repo_id', 'bitbucket_id'] as const

export const ruleNames: NameKinds = {
  environments: { title: 'environments', table: environments, column: 'name', scope: OF_REPO },
  refs: { title: 'branches and tags of pipelines', table: pipelines, column: 'ref_name', scope: OF_REPO },
  steps: { title: 'steps', table: steps, column: 'name', scope: OF_REPO },
  issueTitles: issueTitles({ table: issues, column: 'title', description: 'body', scope: OF_REPO }),
  issueStates: { title: 'states of issues', table: issues, column: 'state', scope: OF_REPO },
}

export const ruleSamples: readonly NameSample[] = [
  {
    request: (scope) => ({ path: inRepo(scope, 'environments/'), query: { pagelen: 100 } }),
    names: ({ values }) => values.map(({ name }: RawRecord) => ({ kind: 'environments', name, isUncounted: true })),
  },
  {
    request: (scope) => ({ path: inRepo(scope, 'pipelines/'), query: { sort: '-created_on', pagelen: 100 } }),
    names: ({ values }) =>
      values
        .filter(({ target }: RawRecord) => target?.ref_name)
        .map(({ target }: RawRecord) => ({ kind: 'refs', name: target.ref_name })),
  },
]
