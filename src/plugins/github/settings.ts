import {
  type Fields,
  historyFields,
  inPanel,
  issueLabelFields,
  patternField,
  productionBranchField,
  reviewLabelFields,
} from '../../plugin-kit/index.ts'
import { ENDPOINT } from './connection.ts'

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
    help: 'You can enter several, separated by commas: their limits add up. Scopes: repo, read:user, read:org.',
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
  'Classic personal access token: `repo`, `read:user`, `read:org`. For public repositories only, `repo:status` and `repo_deployment` are enough instead of `repo`.',
  'Fine-grained personal access token, with read access: for the repositories to Actions, Commit statuses, Contents, Deployments, Issues, Metadata and Pull requests; for the organisation to Members.',
  'GitHub App: the same permissions, installed on the repositories.',
  'The git history is cloned with the same credentials.',
]

/** Five panels; an empty pattern matches nothing, except that without a production pattern everything is production. */
export const scopeConfigFields: Fields = {
  ...issueLabelFields('issueLabels'),
  ...inPanel('CI/CD', {
    envNamePattern: patternField('Production environments', '(?i)prod(.*)', {
      help: 'Matched against the environments of deployments in GitHub.',
      names: ['environments'],
      looksLike: '(?i)(^|[-_ /])(prd|live|master|main)($|[-_ /])',
    }),
    deploymentPattern: patternField('Workflow runs and jobs that deploy', '', {
      help: 'Matched against their names.',
      names: ['workflows', 'jobs'],
      looksLike: '(?i)(deploy|release|publish|rollout|ship)',
      needlessWith: 'environments',
    }),
    productionPattern: patternField('Those that deploy to production', '', {
      help: 'Matched against their names, and against the branches of workflow runs. Empty: all that deploy.',
      names: ['workflows', 'jobs', 'branches'],
      looksLike: '(?i)(prod|prd|live)',
      within: 'deploymentPattern',
      isAllWhenEmpty: true,
    }),
    productionBranchPattern: productionBranchField('branches', { needlessWith: 'environments' }),
  }),
  ...reviewLabelFields('pullRequestLabels', 'pull request'),
  ...inPanel('Cross-domain', {
    prBodyClosePattern: patternField(
      'Issues that a pull request closes',
      '(?mi)(fix|close|resolve|fixes|closes|resolves|fixed|closed|resolved)[\\s]*.*(((and )?(#|https:\\/\\/github.com\\/%s\\/issues\\/)\\d+[ ]*)+)',
      { help: 'Searched in the text of the pull request; %s stands for owner/repo.' },
    ),
  }),
  ...historyFields('pull request'),
}
