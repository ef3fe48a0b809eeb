import { definePlugin } from '../../plugin-kit/index.ts'
import { checkConnection, connectionFields, credentials, RIGHTS, sign } from './connection.ts'
import deployBuilds from './entities/deploy-builds.ts'
import deployEnvironments from './entities/deploy-environments.ts'
import deploymentCommits from './entities/deployment-commits.ts'
import jobBuilds from './entities/job-builds.ts'
import jobs from './entities/jobs.ts'
import planBuildCommits from './entities/plan-build-commits.ts'
import planBuilds from './entities/plan-builds.ts'
import planEntity from './entities/plans.ts'
import { plans } from './kit.ts'
import { collectPlan, planPath } from './plan.ts'
import { remoteScopes } from './remote-scopes.ts'
import { ruleNames, ruleSamples } from './rule-names.ts'
import { rules, scopeConfigFields } from './rules.ts'

export const bamboo = definePlugin({
  name: 'bamboo',
  title: 'Bamboo',
  about: 'Plans with their builds and jobs, and deployment projects with their environments.',
  spelling: 'camel',
  connection: { endpoint: '', rights: RIGHTS, fields: connectionFields, credentials, sign, check: checkConnection },
  scope: {
    table: plans,
    title: 'Plan',
    options: { planKey: 'plan_key' },
    params: (connectionId, { plan_key }) => ({ connectionId, PlanKey: plan_key }),
    remote: remoteScopes,
    check: ({ plan_key }) => ({ path: planPath(plan_key) }),
  },
  scopeConfig: { fields: scopeConfigFields, prepare: rules, names: ruleNames, samples: ruleSamples },
  formerRaws: [
    'bamboo_api_plan',
    'bamboo_api_plan_build',
    'bamboo_api_job',
    'bamboo_api_job_build',
    'bamboo_api_deploy',
    'bamboo_api_deploy_build',
    'bamboo_plan',
    'bamboo_project',
  ],
  entities: [
    planEntity,
    jobs,
    planBuilds,
    jobBuilds,
    deployEnvironments,
    deployBuilds,
    planBuildCommits,
    deploymentCommits,
  ],
  extra: { first: [collectPlan], last: [] },
})
