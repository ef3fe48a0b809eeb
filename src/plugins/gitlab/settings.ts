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
    help: 'It ends with /api/v4/: https://gitlab.com/api/v4/, or https://your-host/api/v4/.',
    default: ENDPOINT,
  },
  token: {
    kind: 'secret',
    label: 'Access token',
    help: 'Of a person, a group or a project. Scopes: read_api, read_repository.',
  },
  proxy: { kind: 'url', label: 'Proxy', isOptional: true },
  rateLimitPerHour: {
    kind: 'integer',
    label: 'Requests per hour',
    help: 'Leave empty to use what GitLab grants.',
    isOptional: true,
  },
}

export const RIGHTS = [
  'Personal, group or project access token: `read_api` and `read_repository` (`api` contains both), of someone who has the role Reporter or higher in the projects. The role Guest cannot see code, merge requests and pipelines of private projects.',
  'The git history is cloned with the same token.',
]

export const scopeConfigFields: Fields = {
  ...issueLabelFields('issueLabels'),
  ...inPanel('CI/CD', {
    envNamePattern: patternField('Production environments', '(?i)prod(.*)', {
      help: 'Matched against the environments of deployments in GitLab.',
      names: ['environments'],
      looksLike: '(?i)(^|[-_ /])(prd|live|master|main)($|[-_ /])',
    }),
    deploymentPattern: patternField('Jobs and pipelines that deploy', '', {
      help: 'Matched against names of jobs, and branches and tags of pipelines.',
      names: ['jobs', 'refs'],
      looksLike: '(?i)(deploy|release|publish|rollout|ship)',
      needlessWith: 'environments',
    }),
    productionPattern: patternField('Those that deploy to production', '', {
      help: 'Matched against the same names. Empty: all jobs that deploy, and no pipeline.',
      names: ['jobs', 'refs'],
      looksLike: '(?i)(prod|prd|live)',
      within: 'deploymentPattern',
      isAllWhenEmpty: true,
    }),
    productionBranchPattern: productionBranchField('refs', { needlessWith: 'environments' }),
  }),
  ...reviewLabelFields('mergeRequestLabels', 'merge request'),
  ...inPanel('Cross-domain', {
    prBodyClosePattern: patternField(
      'Issues that a merge request closes',
      '(?mi)(clos(e|es|ed|ing)|fix(|es|ed|ing)|resolv(e|es|ed|ing)|implement(|s|ed|ing))[: ]+(issues? +)?((\\S*%s)?(#|/-/issues/)\\d+(,? and |, ?| )?)+',
      { help: 'Searched in the text of the merge request; %s stands for the path of the project.' },
    ),
  }),
  ...historyFields('merge request'),
}
