import { z } from 'zod'
import { patternText } from '../../plugin-kit/patterns.ts'
import type { Field, Fields } from '../../plugin-kit/plugin.ts'
import { ENDPOINT } from './connection.ts'

const tagComparison = z
  .looseObject(
    {
      tagsLimit: z.int('must be a whole number').min(0).max(10_000).nullish(),
      tagsPattern: patternText.nullish(),
      tagsOrder: z.string('must be text').max(255).nullish(),
    },
    'must be an object',
  )
  .nullable()

export const connectionFields: Fields = {
  endpoint: {
    kind: 'url',
    label: 'Endpoint',
    help: 'https://api.github.com/, or https://your-host/api/v3/ for GitHub Enterprise Server.',
    default: ENDPOINT,
  },
  authMethod: {
    kind: 'choice',
    label: 'Authentication',
    choices: ['AccessToken', 'AppKey'],
    default: 'AccessToken',
  },
  token: {
    kind: 'secret',
    label: 'Personal access tokens',
    help: 'Several are separated by commas: their limits add up. Scopes: repo, read:user, read:org.',
    authMethod: 'AccessToken',
  },
  appId: { kind: 'string', label: 'App ID', authMethod: 'AppKey' },
  secretKey: {
    kind: 'secret',
    label: 'Private key of the app',
    help: 'PEM text.',
    isMultiline: true,
    authMethod: 'AppKey',
  },
  installationId: { kind: 'integer', label: 'Installation ID', authMethod: 'AppKey' },
  proxy: { kind: 'url', label: 'Proxy', isOptional: true },
  rateLimitPerHour: {
    kind: 'integer',
    label: 'Requests per hour',
    help: 'Leave empty to use what GitHub grants.',
    isOptional: true,
  },
  enableGraphql: {
    kind: 'boolean',
    label: 'Use GraphQL',
    help: 'Fewer and larger requests for issues, pull requests and jobs.',
    default: true,
  },
  refreshToken: { kind: 'secret', label: 'Refresh token', isManaged: true },
  tokenExpiresAt: { kind: 'time', label: 'Token expires at', isManaged: true },
  refreshTokenExpiresAt: { kind: 'time', label: 'Refresh token expires at', isManaged: true },
}

export const RIGHTS = [
  'Classic personal access token: `repo`, `read:user`, `read:org`. For public repositories alone, `repo:status` and `repo_deployment` do instead of `repo`.',
  'Fine-grained personal access token: of the repositories, reading Actions, Commit statuses, Contents, Deployments, Issues, Metadata and Pull requests; of the organisation, reading Members.',
  'GitHub App: the same permissions, installed on the repositories.',
  'The git history is cloned with the same credentials.',
]

const pattern = (label: string, suggestion: string, more: Partial<Field> = {}): Field => ({
  kind: 'regex',
  label,
  size: 255,
  isOptional: true,
  suggestion,
  ...(more as object),
})
const inPanel = (panel: string, fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, { ...field, panel }]))

const LABEL_HELP = 'Matched against each label; the last label that matches is taken whole.'
const ISSUE_LABELS = { help: LABEL_HELP, names: ['issueLabels'] }
const PULL_REQUEST_LABELS = { help: LABEL_HELP, names: ['pullRequestLabels'] }

/** Five panels; an empty pattern matches nothing, except that without a production pattern everything is production. */
export const scopeConfigFields: Fields = {
  ...inPanel('Issue tracking', {
    issueTypeRequirement: pattern('Labels of requirements', '(?i)(feat|feature|proposal|requirement)', {
      ...ISSUE_LABELS,
      looksLike: '(?i)(enhancement|improvement|story|epic)',
    }),
    issueTypeBug: pattern('Labels of bugs', '(?i)(bug|broken)', {
      ...ISSUE_LABELS,
      looksLike: '(?i)(defect|regression|crash)',
    }),
    issueTypeIncident: pattern('Labels of incidents', '(?i)(incident|failure)', {
      ...ISSUE_LABELS,
      looksLike: '(?i)(outage|downtime|post-?mortem|^sev-?[0-9])',
    }),
    issuePriority: pattern('Labels of priority', '(?i)(highest|high|medium|low|p0|p1|p2|p3)', ISSUE_LABELS),
    issueComponent: pattern('Labels of components', '(?i)component(.*)', ISSUE_LABELS),
    issueSeverity: pattern('Labels of severity', '(?i)severity(.*)', ISSUE_LABELS),
  }),
  ...inPanel('CI/CD', {
    envNamePattern: pattern('Production environments', '(?i)prod(.*)', {
      help: 'Of deployments made through GitHub.',
      names: ['environments'],
      looksLike: '(?i)(^|[-_ /])(prd|live|master|main)($|[-_ /])',
    }),
    deploymentPattern: pattern('Workflow runs and jobs that deploy', '', {
      help: 'Matched against their names.',
      names: ['workflows', 'jobs'],
      looksLike: '(?i)(deploy|release|publish|rollout|ship)',
      needlessWith: 'environments',
    }),
    productionPattern: pattern('Of these, to production', '', {
      help: 'Names, and branches of runs. Empty: all of them.',
      names: ['workflows', 'jobs'],
      looksLike: '(?i)(prod|prd|live)',
      within: 'deploymentPattern',
      isAllWhenEmpty: true,
    }),
  }),
  ...inPanel('Code review', {
    prType: pattern('Labels of pull request types', '(?i)type(.*)', PULL_REQUEST_LABELS),
    prComponent: pattern('Labels of pull request components', '(?i)component(.*)', PULL_REQUEST_LABELS),
  }),
  ...inPanel('Cross-domain', {
    prBodyClosePattern: pattern(
      'Issues that a pull request closes',
      '(?mi)(fix|close|resolve|fixes|closes|resolves|fixed|closed|resolved)[\\s]*.*(((and )?(#|https:\\/\\/github.com\\/%s\\/issues\\/)\\d+[ ]*)+)',
      { help: 'Searched in the text of the pull request; %s stands for owner/repo.' },
    ),
  }),
  ...inPanel('Additional settings', {
    refdiff: {
      kind: 'json',
      schema: tagComparison,
      label: 'Releases to compare',
      help: 'tagsLimit: how many of the newest tags; tagsPattern: which tags count.',
      isOptional: true,
      isOnRequest: true,
      suggestion: { tagsLimit: 10, tagsPattern: '/v\\d+\\.\\d+(\\.\\d+(-rc)*\\d*)*$/' },
    },
    prSizeExcludedFileExtensions: {
      kind: 'strings',
      label: 'File extensions that do not count towards the size of a pull request',
      isOptional: true,
      isOnRequest: true,
      suggestion: [],
    },
  }),
}
