import { stringify } from 'yaml'
import { TOKEN } from '../tests/fake-circleci/fake-circleci.ts'
import { DEFAULT_TOKEN } from '../tests/fake-github/fake-github.ts'
import { USER } from '../tests/fake-jira/fake-jira.ts'
import { slugOf } from './circleci.ts'
import type { ServiceStory } from './happenings.ts'
import { boardName, POINTS_FIELD } from './jira.ts'
import { OWNER } from './organisation.ts'
import { DAY } from './teller.ts'
import type { Vendors } from './vendors.ts'

/** Values of what the document leaves to the environment. */
export const VARIABLES = { GITHUB_TOKEN: DEFAULT_TOKEN, JIRA_PASSWORD: USER.password, CIRCLECI_TOKEN: TOKEN }

/** GitHub says which deployments there are, so no rule looks for them among the workflows: they would count twice. */
const GITHUB_RULES = {
  entities: ['CODE', 'TICKET', 'CODEREVIEW', 'CICD', 'CROSS'],
  envNamePattern: '^production$',
  deploymentPattern: '',
  productionPattern: '',
  productionBranchPattern: '',
  issueTypeBug: '^bug$',
}
const JIRA_RULES = {
  entities: ['TICKET', 'CROSS'],
  storyPointField: POINTS_FIELD,
  typeMappings: {
    Story: { standardType: 'REQUIREMENT' },
    Bug: { standardType: 'BUG' },
    Incident: { standardType: 'INCIDENT' },
  },
  /** Tasks that tell of an incident are incidents, too. */
  issueTextIncident: '(?i)\\bincident\\b',
}
/** It only builds. */
const CIRCLECI_RULES = {
  entities: ['CICD'],
  deploymentPattern: '',
  productionPattern: '',
  productionBranchPattern: '',
}

const timeAfter = (stories: readonly ServiceStory[]): string => {
  const first = Math.min(...stories.flatMap(({ tickets }) => tickets.map(({ createdAt }) => createdAt)))
  return new Date(first - 30 * DAY).toISOString().slice(0, 10)
}

function projectOf({ service, repository, circleciFrom }: ServiceStory, since: string) {
  const { title, team, name } = service
  return {
    description: `Of the team ${team}`,
    timeAfter: since,
    schedule: 'manual',
    metrics: ['dora', { linker: { prToIssueRegexp: '([A-Z]+-\\d+)' } }],
    collect: [
      { connection: `github/${OWNER}`, scopes: [repository], scopeConfig: 'code' },
      { connection: `jira/${OWNER}`, scopes: [boardName(title)], scopeConfig: 'tickets' },
      ...(circleciFrom === undefined
        ? []
        : [{ connection: `circleci/${OWNER}`, scopes: [slugOf(name)], scopeConfig: 'builds' }]),
      ...(service.hasApp ? [{ connection: `webhook/${webhookName(service)}` }] : []),
    ],
  }
}

export const webhookName = ({ name }: Pick<ServiceStory['service'], 'name'>): string => `${name} app`

/** The configuration that users of the demo would write to collect it: a project for each service. */
export function configOf(stories: readonly ServiceStory[], { github, jira, circleci }: Vendors): string {
  const login = { authMethod: 'BasicAuth', username: USER.username, password: { env: 'JIRA_PASSWORD' } }
  const apps = stories.filter(({ service }) => service.hasApp)
  const since = timeAfter(stories)
  return stringify({
    connections: {
      github: {
        [OWNER]: {
          endpoint: `${github.url}/`,
          token: { env: 'GITHUB_TOKEN' },
          enableGraphql: true,
          scopeConfigs: { code: GITHUB_RULES },
        },
      },
      jira: { [OWNER]: { endpoint: jira.url, ...login, scopeConfigs: { tickets: JIRA_RULES } } },
      circleci: {
        [OWNER]: {
          endpoint: circleci.url,
          token: { env: 'CIRCLECI_TOKEN' },
          scopeConfigs: { builds: CIRCLECI_RULES },
        },
      },
      webhook: Object.fromEntries(apps.map(({ service }) => [webhookName(service), {}])),
    },
    projects: Object.fromEntries(stories.map((story) => [story.service.title, projectOf(story, since)])),
  })
}
