import { definePlugin } from '../../plugin-kit/index.ts'
import { checkConnection, connectionFields, credentials, RIGHTS, sign } from './connection.ts'
import buildRepos from './entities/build-repos.ts'
import builds from './entities/builds.ts'
import jobEntity from './entities/jobs.ts'
import scopeJobs from './entities/scope-jobs.ts'
import stages from './entities/stages.ts'
import { hasStages } from './has-stages.ts'
import { jobDags } from './job-dags.ts'
import { jobPath, jobs, paramsOf } from './kit.ts'
import { remoteScopes } from './remote-scopes.ts'
import { ruleNames, ruleSamples } from './rule-names.ts'
import { prepareRules, ruleFields } from './rules.ts'

const plugin = definePlugin({
  name: 'jenkins',
  title: 'Jenkins',
  about: 'Jobs and multibranch projects with their builds and stages: builds and deployments.',
  spelling: 'camel',
  connection: { endpoint: '', rights: RIGHTS, fields: connectionFields, credentials, sign, check: checkConnection },
  // As in DevLake, blueprints may contain a connection without scopes.
  isTakenWhole: true,
  scope: {
    table: jobs,
    title: 'Job',
    options: { fullName: 'full_name' },
    toldBy: { jobFullName: 'full_name', jobName: 'name', jobPath: 'path' },
    params: paramsOf,
    remote: remoteScopes,
    check: ({ full_name }) => ({ path: `${jobPath(full_name)}api/json`, query: { tree: 'fullName' } }),
  },
  scopeConfig: {
    fields: ruleFields,
    prepare: prepareRules,
    names: ruleNames,
    samples: ruleSamples,
  },
  entities: [scopeJobs, jobEntity, builds, stages, buildRepos],
  completions: [hasStages],
})

export const jenkins = { ...plugin, tables: [...plugin.tables, jobDags] }
