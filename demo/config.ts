import { stringify } from 'yaml'
import type { ServiceStory } from './story.ts'
import { WEEKS } from './story.ts'

const WEEK = 7 * 86_400_000

/** What the users of the demo would write to collect it: a project for each service. */
export function configOf(stories: readonly ServiceStory[], github: string, jira: string, username: string): string {
  const timeAfter = new Date(Date.now() - (WEEKS + 4) * WEEK).toISOString().slice(0, 10)
  return stringify({
    connections: {
      github: {
        tidewater: {
          ...{ endpoint: `${github}/`, token: { env: 'GITHUB_TOKEN' }, enableGraphql: true },
          scopeConfigs: {
            code: {
              ...{ entities: ['CODE', 'CODEREVIEW', 'CICD', 'CROSS'], envNamePattern: '^production$' },
              ...{ deploymentPattern: '^deploy to ', productionPattern: 'production' },
            },
          },
        },
      },
      jira: {
        tidewater: {
          ...{ endpoint: jira, authMethod: 'BasicAuth', username, password: { env: 'JIRA_PASSWORD' } },
          scopeConfigs: {
            tickets: {
              entities: ['TICKET'],
              typeMappings: {
                Story: { standardType: 'REQUIREMENT' },
                Bug: { standardType: 'BUG' },
                Incident: { standardType: 'INCIDENT' },
              },
            },
          },
        },
      },
    },
    projects: Object.fromEntries(
      stories.map(({ service: { title, team }, repository }) => [
        title,
        {
          ...{ description: `Of the team ${team}`, timeAfter, schedule: 'manual' },
          metrics: ['dora', { linker: { prToIssueRegexp: '([A-Z]+-\\d+)' } }],
          collect: [
            { connection: 'github/tidewater', scopes: [repository], scopeConfig: 'code' },
            { connection: 'jira/tidewater', scopes: [`${title} board`], scopeConfig: 'tickets' },
          ],
        },
      ]),
    ),
  })
}
