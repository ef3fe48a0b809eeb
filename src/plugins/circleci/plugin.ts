import { definePlugin, deliveryRules, productionBranchField } from '../../plugin-kit/index.ts'
import accounts from './entities/accounts.ts'
import jobs from './entities/jobs.ts'
import pipelineEntity from './entities/pipelines.ts'
import projectEntity from './entities/projects.ts'
import workflows from './entities/workflows.ts'
import { projects } from './kit.ts'
import { remoteScopes } from './remote-scopes.ts'
import { ruleNames, ruleSamples } from './rule-names.ts'

export const circleci = definePlugin({
  name: 'circleci',
  title: 'CircleCI',
  about: 'Projects with their pipelines, workflows and jobs: builds and deployments.',
  spelling: 'camel',
  connection: {
    endpoint: 'https://circleci.com/api/',
    rights: [
      'Personal API token: it has the rights of its owner, so the owner must see the projects. Project tokens do not work with this API.',
    ],
    sign: (token) => ({ 'Circle-Token': token }),
    test: { path: '/v2/me' },
    knows: ({ id }) => typeof id === 'string',
    fields: {
      endpoint: { kind: 'url', label: 'Endpoint', default: 'https://circleci.com/api/' },
      token: { kind: 'secret', label: 'Personal API token', help: 'User Settings, Personal API Tokens.' },
      proxy: { kind: 'url', label: 'Proxy', isOptional: true },
      rateLimitPerHour: { kind: 'integer', label: 'Requests per hour', isOptional: true },
    },
  },
  scope: {
    table: projects,
    title: 'Project',
    options: { projectSlug: 'slug' },
    params: (connectionId, { slug }) => ({ ConnectionId: connectionId, ProjectSlug: slug }),
    remote: remoteScopes,
    check: ({ slug }) => ({ path: `/v2/project/${slug}` }),
  },
  scopeConfig: {
    fields: {
      deploymentPattern: {
        kind: 'regex',
        label: 'Workflows and jobs that deploy',
        help: 'Matched against their names.',
        names: ['workflows', 'jobs'],
        looksLike: '(?i)(release|publish|rollout|ship)',
        size: 255,
        isOptional: true,
        suggestion: '(?i)deploy',
      },
      productionPattern: {
        kind: 'regex',
        label: 'Those that deploy to production',
        help: 'Matched against their names. Empty: all that deploy.',
        names: ['workflows', 'jobs'],
        looksLike: '(?i)prd',
        within: 'deploymentPattern',
        isAllWhenEmpty: true,
        size: 255,
        isOptional: true,
        // Names that contain nothing more specific than "deploy" mean production. Names such as deploy-staging do not.
        suggestion: '(?i)(prod|live|^(build|test|and|[-_ ])*deploy(ment)?$)',
      },
      productionBranchPattern: productionBranchField('branches'),
    },
    prepare: deliveryRules,
    names: ruleNames,
    samples: ruleSamples,
  },
  entities: [accounts, projectEntity, pipelineEntity, workflows, jobs],
})
