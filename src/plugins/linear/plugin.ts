import {
  type CheckQuestion,
  type ConnectionCheck,
  definePlugin,
  incidentTextField,
  inPanel,
  notThere,
  patternField,
  quotaFromHeaders,
  type Settings,
} from '../../plugin-kit/index.ts'
import { deliveries } from './deliveries.ts'
import accounts from './entities/accounts.ts'
import comments from './entities/comments.ts'
import cycles, { sprintIssueEntity } from './entities/cycles.ts'
import issueHistory from './entities/issue-history.ts'
import issues, { labelEntity, relationEntity } from './entities/issues.ts'
import teamEntity from './entities/teams.ts'
import workflowStates from './entities/workflow-states.ts'
import { ask, teams } from './kit.ts'
import { remoteScopes } from './remote-scopes.ts'
import { ruleNames, ruleSamples } from './rule-names.ts'
import { rules } from './rules.ts'

const ENDPOINT = 'https://api.linear.app/graphql'
export const checkQuery = 'query viewer { viewer { id name } }'

async function check(settings: Settings, { open, signal }: CheckQuestion): Promise<ConnectionCheck> {
  const client = open(settings)
  try {
    const { body } = await client.send(ask(checkQuery), signal)
    if (typeof body?.data?.viewer?.id !== 'string') throw notThere('Linear')
    return { success: true }
  } finally {
    await client.close()
  }
}

const labelField = (label: string, looksLike: string) =>
  patternField(label, '', {
    help: 'Matched against each label. Incidents come first, then bugs, then requirements; without a match it is a requirement.',
    names: ['labels'],
    looksLike,
  })

export const linear = definePlugin({
  name: 'linear',
  title: 'Linear',
  about: 'Teams with their issues, cycles, comments and changes of state.',
  spelling: 'title',
  connection: {
    endpoint: ENDPOINT,
    rights: ['Personal API key with read access: Settings, Security & access. It sees the teams that its owner sees.'],
    fields: {
      endpoint: { kind: 'url', label: 'Endpoint', default: ENDPOINT },
      token: { kind: 'secret', label: 'Personal API key' },
      proxy: { kind: 'url', label: 'Proxy', isOptional: true },
      rateLimitPerHour: {
        kind: 'integer',
        label: 'Requests per hour',
        help: 'Leave empty to use what Linear grants.',
        isOptional: true,
      },
    },
    sign: (token) => ({ Authorization: token }),
    // https://linear.app/developers/rate-limiting
    limits: {
      quota: quotaFromHeaders({
        remaining: 'x-ratelimit-requests-remaining',
        reset: 'x-ratelimit-requests-reset',
        resetIs: 'milliseconds',
      }),
    },
    check,
  },
  scope: {
    table: teams,
    title: 'Team',
    options: { teamId: 'team_id' },
    params: (connectionId, { team_id }) => ({ ConnectionId: connectionId, TeamId: team_id }),
    remote: remoteScopes,
    check: ({ team_id }) => ({
      ...ask('query team($id: String!) { team(id: $id) { id } }', { id: team_id }),
      finds: (body) => ({ isThere: body?.data?.team?.id === team_id }),
    }),
  },
  scopeConfig: {
    fields: inPanel('Issue tracking', {
      issueTypeIncident: labelField('Labels of incidents', '(?i)(incident|outage|post-?mortem)'),
      issueTypeBug: labelField('Labels of bugs', '(?i)(bug|defect|regression|crash)'),
      issueTypeRequirement: labelField('Labels of requirements', '(?i)(feature|improvement|story)'),
      issueTextIncident: incidentTextField,
    }),
    prepare: rules,
    names: ruleNames,
    samples: ruleSamples,
  },
  deliveries,
  entities: [
    accounts,
    workflowStates,
    issues,
    comments,
    cycles,
    issueHistory,
    teamEntity,
    labelEntity,
    relationEntity,
    sprintIssueEntity,
  ],
})
