/** Reports about the app that tools send by themselves. */
import { createHash } from 'node:crypto'
import { webhookName } from './config.ts'
import type { Ask } from './fill.ts'
import type { Alarm, Release, ServiceStory } from './happenings.ts'
import { OWNER } from './organisation.ts'
import { MINUTE } from './teller.ts'

const timeOf = (moment: number) => new Date(moment).toISOString()

function deploymentOf(app: string, { version, at, isSuccess }: Release) {
  const dates = { startedDate: timeOf(at), finishedDate: timeOf(at + 12 * MINUTE) }
  const result = isSuccess ? 'SUCCESS' : 'FAILURE'
  const commit = {
    repoUrl: `https://github.com/${OWNER}/${app}`,
    commitSha: createHash('sha1').update(`${app} ${version}`).digest('hex'),
    refName: `v${version}`,
    displayTitle: `Release ${version}`,
    result,
    ...dates,
  }
  return {
    id: `release-${version}`,
    displayTitle: `Release ${version}`,
    result,
    environment: 'PRODUCTION',
    ...dates,
    deploymentCommits: [commit],
  }
}

const issueOf = (app: string, { key, title, at, endedAt }: Alarm) => ({
  issueKey: key,
  title,
  type: 'INCIDENT',
  priority: 'High',
  component: app,
  createdDate: timeOf(at),
  ...(endedAt === undefined
    ? { status: 'TODO', originalStatus: 'firing', updatedDate: timeOf(at) }
    : {
        status: 'DONE',
        originalStatus: 'resolved',
        updatedDate: timeOf(endedAt),
        resolutionDate: timeOf(endedAt),
      }),
})

/** The last message is one that Weir refuses: it says when nothing. */
export async function report(ask: Ask, { service, releases, alarms }: ServiceStory): Promise<void> {
  if (!service.hasApp) return
  const connections = await ask('GET', '/plugins/webhook/connections')
  const { id } = connections.find(({ name }: any) => name === webhookName(service))
  const app = `${service.name}-app`
  const to = `/plugins/webhook/connections/${id}`
  for (const release of releases) await ask('POST', `${to}/deployments`, deploymentOf(app, release))
  for (const alarm of alarms) await ask('POST', `${to}/issues`, issueOf(app, alarm))
  await ask('POST', `${to}/deployments`, { id: 'without dates' }).catch(() => {})
}
