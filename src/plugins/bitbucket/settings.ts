import {
  type Fields,
  historyFields,
  incidentTextField,
  inPanel,
  patternField,
  productionBranchField,
} from '../../plugin-kit/index.ts'

export const ENDPOINT = 'https://api.bitbucket.org/2.0/'

export const connectionFields: Fields = {
  endpoint: { kind: 'url', label: 'Endpoint', default: ENDPOINT },
  username: {
    kind: 'string',
    label: 'User name',
    help: 'With an API token: the e-mail address of the Atlassian account. With an app password: the Bitbucket user name.',
  },
  password: {
    kind: 'secret',
    label: 'API token or app password',
    help: 'Bitbucket has stopped app passwords on 9 June 2026: create an API token with scopes for Bitbucket.',
  },
  usesApiToken: {
    kind: 'boolean',
    label: 'It is an API token',
    help: 'Decides with which user name git clones.',
    default: true,
  },
  proxy: { kind: 'url', label: 'Proxy', isOptional: true },
  rateLimitPerHour: {
    kind: 'integer',
    label: 'Requests per hour',
    help: 'Leave empty to use what Bitbucket grants.',
    isOptional: true,
  },
}

export const RIGHTS = [
  'API token with the scopes `read:user:bitbucket`, `read:workspace:bitbucket`, `read:repository:bitbucket`, `read:pullrequest:bitbucket`, `read:pipeline:bitbucket`, and `read:issue:bitbucket` if repositories have issues.',
  'App password (until 9 June 2026): Account Read, Workspace membership Read, Repositories Read, Pull requests Read, Pipelines Read, Issues Read.',
  'The git history is cloned with the same token.',
]

const statusField = (label: string, suggestion: string) => ({
  kind: 'string' as const,
  label,
  help: 'States of issues in Bitbucket, separated by commas.',
  names: ['issueStates'],
  size: 255,
  isOptional: true,
  suggestion,
})

const { refdiff } = historyFields('pull request')

export const scopeConfigFields: Fields = {
  ...inPanel('Issue tracking', {
    issueTextIncident: incidentTextField,
    issueStatusTodo: statusField('States that mean TODO', 'new,open'),
    issueStatusInProgress: statusField('States that mean IN_PROGRESS', ''),
    issueStatusDone: statusField('States that mean DONE', 'resolved,closed'),
    issueStatusOther: statusField('States that mean OTHER', 'on hold,wontfix,duplicate,invalid'),
  }),
  ...inPanel('CI/CD', {
    deploymentPattern: patternField('Pipelines and steps that deploy', '', {
      help: 'Matched against branches and tags of pipelines, and names of steps. Deployments to environments of Bitbucket count without it.',
      names: ['refs', 'steps'],
      looksLike: '(?i)(deploy|release|publish|rollout|ship)',
      needlessWith: 'environments',
    }),
    productionPattern: patternField('Those that deploy to production', '', {
      help: 'Matched against the same names. Empty: all that deploy.',
      names: ['refs', 'steps'],
      looksLike: '(?i)(prod|prd|live)',
      within: 'deploymentPattern',
      isAllWhenEmpty: true,
    }),
    productionBranchPattern: productionBranchField('refs', { needlessWith: 'environments' }),
  }),
  ...(refdiff && { refdiff }),
}
