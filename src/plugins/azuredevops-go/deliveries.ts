/**
 * https://learn.microsoft.com/azure/devops/service-hooks/events. Service hooks sign nothing: the secret is the password that they
 * log in with. They send the same record as the list, except that labels are missing, and that work items name people as text.
 */
import type { RawRecord } from '../../database/table.ts'
import { type DeliveredRecord, type DeliverySpec, type Effect, isSameText } from '../../plugin-kit/index.ts'
import buildsEntity, { builds } from './entities/builds.ts'
import pullRequestsEntity, { pullRequests } from './entities/pull-requests.ts'
import workItemsEntity, { workItems } from './entities/work-items.ts'

function timeOf(value: unknown): Date | null {
  const time = new Date(typeof value === 'string' ? value : Number.NaN)
  return Number.isNaN(time.getTime()) ? null : time
}

function pullRequestRecord({ resource, createdDate }: RawRecord): DeliveredRecord {
  return {
    entity: pullRequestsEntity,
    record: resource,
    // The dates of closing are removed, because a pull request that was opened again is no longer closed.
    merge: ({ closedDate: _, closedBy: __, ...stored }: RawRecord = {}) => ({ ...stored, ...resource }),
    news: {
      table: pullRequests,
      where: { azuredevops_id: resource.pullRequestId },
      // There is no time of the last change. But a message from before the closing is out of date once the pull request is closed.
      timeOf: ({ closed_date, creation_date }) => closed_date ?? creation_date,
      at: timeOf(createdDate),
    },
  }
}

function buildRecord({ resource, createdDate }: RawRecord): DeliveredRecord {
  return {
    entity: buildsEntity,
    record: resource,
    merge: (stored: RawRecord = {}) => ({ ...stored, ...resource }),
    news: {
      table: builds,
      where: { azuredevops_id: resource.id },
      timeOf: ({ finish_time, start_time, queue_time }) => finish_time ?? start_time ?? queue_time,
      at: timeOf(resource.lastChangedDate) ?? timeOf(createdDate),
      listedAt: timeOf(resource.queueTime),
    },
  }
}

/** Replaces the text of a person by the stored person if the name is the same. */
function withPeople(sent: RawRecord, stored: RawRecord = {}): RawRecord {
  const known = Object.entries(sent).map(([name, value]) => {
    const person = stored[name]
    const isSame = person?.displayName && typeof value === 'string' && value.startsWith(person.displayName)
    return [name, isSame ? person : value]
  })
  return Object.fromEntries(known)
}

function workItemRecord({ resource, createdDate }: RawRecord): DeliveredRecord {
  const { id, rev, fields, url } = resource.revision ?? resource
  const record = { id, rev, fields, url }
  return {
    entity: workItemsEntity,
    record,
    merge: (stored: RawRecord) => ({ ...stored, ...record, fields: withPeople(fields, stored?.fields) }),
    news: {
      table: workItems,
      where: { id },
      timeOf: ({ changed_date }) => changed_date,
      at: timeOf(fields['System.ChangedDate']) ?? timeOf(createdDate),
    },
  }
}

type Read = (payload: RawRecord) => Effect
const note =
  (what: string): Read =>
  () => ({ note: `${what}: the next run brings it` })
const pullRequest: Read = (payload) => ({
  subject: `pull request ${payload.resource.pullRequestId}`,
  records: [pullRequestRecord(payload)],
})
const workItem: Read = (payload) => {
  const { resource } = payload
  if (!(resource.revision ?? resource).fields?.['System.WorkItemType']) return note('a work item was changed')(payload)
  return { subject: `work item ${(resource.revision ?? resource).id}`, records: [workItemRecord(payload)] }
}

const EVENTS = new Map<string, Read>(
  Object.entries({
    'git.pullrequest.created': pullRequest,
    'git.pullrequest.updated': pullRequest,
    'git.pullrequest.merged': note('a merge was tried'),
    'ms.vss-code.git-pullrequest-comment-event': note('a comment was written'),
    'git.push': note('commits were pushed'),
    'build.complete': (payload: RawRecord) =>
      payload.resource.repository?.id
        ? { subject: `build ${payload.resource.id}`, records: [buildRecord(payload)] }
        : note('a build has ended')(payload),
    'workitem.created': workItem,
    'workitem.updated': workItem,
    'workitem.restored': workItem,
    'workitem.deleted': note('a work item was deleted'),
    'ms.vss-release.deployment-completed-event': note('a release was deployed'),
    'ms.vss-pipelines.run-state-changed-event': note('a pipeline was run'),
  }),
)

/** Returns the password, which must be the secret. The user name can be anything. */
function passwordIn(authorization: string | undefined): string {
  const encoded = /^Basic\s+(\S+)$/i.exec(authorization ?? '')?.[1] ?? ''
  const text = Buffer.from(encoded, 'base64').toString()
  return text.slice(text.indexOf(':') + 1)
}

export const deliveries: DeliverySpec = {
  setup: {
    address: 'Project settings → Service hooks → Create subscription → Web Hooks, once for each event → URL.',
    secret: 'In the same form, as the password of the basic authentication; the user name can be anything.',
    events:
      'Choose pull request created and updated, build completed, and work item created and updated, with all details to send; others are only noted.',
  },
  isGenuine: ({ headers }, secret) => isSameText(passwordIn(headers.authorization), secret),
  idOf: (_delivery, { id }) => String(id ?? ''),
  eventOf: (_delivery, { eventType }) => String(eventType ?? ''),
  scopes: ({ resource, resourceContainers }) => {
    const repository = resource?.repository
    if (repository?.id) return { name: String(repository.name ?? repository.id), where: { id: repository.id } }
    const project = resourceContainers?.project?.id
    return project ? { name: `the boards of project ${project}`, where: { id: project } } : undefined
  },
  read: (event, payload) => EVENTS.get(event)?.(payload),
}
