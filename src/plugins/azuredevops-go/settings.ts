import {
  type Fields,
  historyFields,
  incidentTextField,
  inPanel,
  patternField,
  productionBranchField,
} from '../../plugin-kit/index.ts'
import { ENDPOINT } from './connection.ts'

export const connectionFields: Fields = {
  endpoint: {
    kind: 'url',
    label: 'Endpoint',
    help: 'https://dev.azure.com/ for Azure DevOps Services. For a Server: its address without the collection, for example https://devops.example.com/tfs/.',
    default: ENDPOINT,
    isOptional: true,
  },
  organization: {
    kind: 'string',
    label: 'Organization',
    help: 'Of a Server: the collection, for example DefaultCollection. Services: leave it empty for a token of all organizations.',
    size: 255,
    isOptional: true,
  },
  token: {
    kind: 'secret',
    label: 'Personal access token',
    help: 'User settings, Personal access tokens.',
  },
  proxy: { kind: 'url', label: 'Proxy', isOptional: true },
  rateLimitPerHour: {
    kind: 'integer',
    label: 'Requests per hour',
    help: 'Leave empty to use what Azure DevOps grants.',
    isOptional: true,
  },
}

export const RIGHTS = [
  'Personal access token with Code (Read), Build (Read), Release (Read), Environment (Read & manage), Work Items (Read) and Project and Team (Read). Leave out what you do not collect.',
  'For repositories on other hosts that pipelines build: Service Connections (Read). For the subtask collectAccounts: Graph (Read).',
  'If the connection names no organization, the token must be one of all accessible organizations, with User Profile (Read).',
  'The git history is cloned with the same token.',
]

const TYPE_HELP = 'Matched against the type of a work item, and its tags. The last that matches decides.'
const types = { help: TYPE_HELP, names: ['workItemTypes', 'workItemTags'] }

export const scopeConfigFields: Fields = {
  ...inPanel('Issue tracking', {
    issueTypeRequirement: patternField(
      'Work items that are requirements',
      '(?i)^(user story|product backlog item|requirement|feature|epic|issue)$',
      types,
    ),
    issueTypeBug: patternField('Work items that are bugs', '(?i)^(bug|defect)$', types),
    issueTypeIncident: patternField('Work items that are incidents', '(?i)(incident|outage)', types),
    issueTextIncident: incidentTextField,
  }),
  ...inPanel('CI/CD', {
    envNamePattern: patternField('Production environments', '(?i)prod(.*)', {
      help: 'Matched against environments of pipelines, and stages of releases.',
      names: ['environments'],
      looksLike: '(?i)(^|[-_ /])(prd|live)($|[-_ /])',
    }),
    deploymentPattern: patternField('Builds and their stages, jobs and steps that deploy', '', {
      help: 'Matched against their names; for builds also against their tags. Leave it empty if environments or releases tell what was deployed: otherwise a deployment counts twice.',
      names: ['builds', 'records'],
      looksLike: '(?i)(deploy|release|publish|rollout|ship|push-image)',
      needlessWith: 'environments',
    }),
    productionPattern: patternField('Those that deploy to production', '', {
      help: 'Matched against the same names. Empty: none of them.',
      names: ['builds', 'records'],
      looksLike: '(?i)(prod|prd|live)',
      within: 'deploymentPattern',
    }),
    productionBranchPattern: productionBranchField('branches', { needlessWith: 'environments' }),
  }),
  ...historyFields('pull request'),
}
