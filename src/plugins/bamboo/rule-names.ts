import type { NameKinds, NameSample } from '../../plugin-kit/index.ts'
import { deployEnvironments } from './entities/deploy-environments.ts'
import { jobs } from './entities/jobs.ts'
import { planBuilds } from './entities/plan-builds.ts'
import { planPath } from './plan.ts'

const OF_PLAN = ['plan_key', 'plan_key'] as const

export const ruleNames: NameKinds = {
  plans: { title: 'plans', table: planBuilds, column: 'plan_name', scope: OF_PLAN },
  jobs: { title: 'jobs', table: jobs, column: 'name', scope: OF_PLAN },
  environments: { title: 'environments', table: deployEnvironments, column: 'name', scope: OF_PLAN },
}

export const ruleSamples: readonly NameSample[] = [
  {
    request: ({ plan_key }) => ({ path: planPath(plan_key) }),
    *names({ shortName }) {
      if (shortName) yield { kind: 'plans', name: shortName, isUncounted: true }
    },
  },
  {
    request: ({ plan_key }) => ({ path: `search/jobs/${encodeURIComponent(plan_key)}.json` }),
    *names({ searchResults = [] }) {
      for (const { searchEntity } of searchResults) {
        yield { kind: 'jobs', name: searchEntity.jobName, isUncounted: true }
      }
    },
  },
]
