import type { RawRecord } from '../../../database/table.ts'
import { bigint, boolean, double, key, optional, string, text, timestamp } from '../../../database/table.ts'
import { classify } from '../../../domain/classify.ts'
import { boardIssues, issueAssignees, issueLabels, issues, sprintIssues } from '../../../domain/ticket.ts'
import { cursor, innerJoin, manyByKey, type Paging, wholeTable } from '../../../plugin-kit/index.ts'
import {
  entity,
  inProject,
  OF_BOARD,
  plans,
  type Repo,
  type Rules,
  repos,
  repositoryId,
  table,
  versioned,
} from '../kit.ts'
import { iterations } from './iterations.ts'
import { identities, peopleIn, users } from './people.ts'
import { stateName, states } from './work-item-types.ts'

const RAW = 'azuredevops_go_api_work_items'
/** Names of fields contain dots, so paths with dots cannot address them. */
const field =
  (name: string) =>
  ({ fields }: RawRecord) =>
    fields?.[name]
const COMMON = 'Microsoft.VSTS.Common'
const SCHEDULING = 'Microsoft.VSTS.Scheduling'
/** Removes the address: `Ada <ada@example.com>` becomes Ada. */
const withoutAddress = (person: string): string =>
  person.endsWith('>') && person.includes('<') ? person.slice(0, person.lastIndexOf('<')).trimEnd() : person
/** Older servers give people as text. */
const person = (name: string) => (record: RawRecord) => {
  const value = field(name)(record)
  return typeof value === 'string' ? { displayName: withoutAddress(value) } : (value ?? {})
}
const creator = person('System.CreatedBy')
const assignee = person('System.AssignedTo')
/** Splits tags such as `one; two`. */
const tagsOf = (record: RawRecord): string[] =>
  String(field('System.Tags')(record) ?? '')
    .split(';')
    .map((tag) => tag.trim())
    .filter(Boolean)

/** A type that is an incident, by itself or by a rule, takes precedence over the tags. Otherwise the last match decides. */
function standardType(item: RawRecord, { scopeConfig }: { readonly scopeConfig: Rules }): string {
  const type: string = field('System.WorkItemType')(item) ?? ''
  const own = scopeConfig.typeOfIncident(type) || scopeConfig.issueTypeOf([type])
  return own === 'INCIDENT' ? own : scopeConfig.issueTypeOf([type, ...tagsOf(item)])
}

export const workItems = table(
  'work_items',
  'AzuredevopsWorkItem',
  {
    id: key(bigint()),
    board_id: string(191, repositoryId),
    type: string(field('System.WorkItemType')),
    std_type: string(100, standardType),
    title: text(field('System.Title')),
    description: text((item) => field('System.Description')(item) ?? field('Microsoft.VSTS.TCM.ReproSteps')(item)),
    state: string(field('System.State')),
    area_path: string(field('System.AreaPath')),
    iteration_id: bigint(field('System.IterationId')),
    story_points: optional(
      double((item) => field(`${SCHEDULING}.StoryPoints`)(item) ?? field(`${SCHEDULING}.Effort`)(item)),
    ),
    priority: string((item) => String(field(`${COMMON}.Priority`)(item) ?? '')),
    severity: string(field(`${COMMON}.Severity`)),
    creator_id: string((item) => creator(item).id),
    creator_name: string((item) => creator(item).displayName),
    assignee_id: string((item) => assignee(item).id),
    assignee_name: string((item) => assignee(item).displayName),
    created_date: timestamp(field('System.CreatedDate')),
    changed_date: timestamp(field('System.ChangedDate')),
    closed_date: timestamp(field(`${COMMON}.ClosedDate`)),
    due_date: timestamp(field(`${SCHEDULING}.DueDate`)),
    is_deleted: boolean(field('System.IsDeleted')),
  },
  OF_BOARD,
)
const tags = table('work_item_tags', 'AzuredevopsWorkItemTag', {
  work_item_id: key(bigint()),
  name: key(string()),
})
/** Links of work items to the parts of which they consist. A link that was removed is listed as not active. */
const links = table(
  'work_item_links',
  'AzuredevopsWorkItemLink',
  {
    parent_id: key(bigint('attributes.sourceId')),
    child_id: key(bigint('attributes.targetId')),
    board_id: string(191, repositoryId),
    is_active: boolean('attributes.isActive'),
  },
  OF_BOARD,
)

export { tags as workItemTags }

/** Reads all changes since a moment, without a limit on their number. This API is made for copying whole projects. */
const batches = cursor({
  size: 200,
  param: 'continuationToken',
  next: ({ isLastBatch, continuationToken }) => (isLastBatch === false ? continuationToken : null),
})
/** The continuation token contains the start time, and Azure DevOps refuses requests that have both. */
const reported: Paging = {
  ...batches,
  at: (request, state) =>
    batches.at(state.cursor ? { ...request, query: { ...request.query, startDateTime: undefined } } : request, state),
}
const since = { filterBy: (from: Date) => ({ startDateTime: from.toISOString() }) }

const STATUS = { TODO: ['Proposed'], IN_PROGRESS: ['InProgress', 'Resolved'], DONE: ['Completed'] }
/** For states that a type no longer has. */
const USUAL = {
  TODO: ['New', 'To Do', 'Proposed', 'Approved'],
  IN_PROGRESS: ['Active', 'Doing', 'Committed', 'In Progress', 'Resolved'],
  DONE: ['Closed', 'Done', 'Completed'],
}
const statusOf = (category: string | undefined, state: string) =>
  category ? classify(category, STATUS, 'OTHER') : classify(state, USUAL, 'OTHER')
const minutesBetween = (from: Date | null, to: Date | null) =>
  from && to ? Math.max(0, Math.trunc((to.getTime() - from.getTime()) / 60_000)) : null

export default entity(workItems, {
  label: 'Work Items',
  domainTypes: ['TICKET'],
  raw: RAW,
  collect: {
    when: plans,
    request: ({ scope }) =>
      versioned(inProject(scope, 'wit/reporting/workitemrevisions'), {
        includeLatestOnly: true,
        includeDeleted: true,
        includeIdentityRef: true,
        $expand: 'fields',
      }),
    paging: reported,
    records: ({ values }) => values,
    incremental: since,
  },
  extract: {
    writes: [identities],
    owns: [{ table: tags, by: { connection_id: 'connection_id', work_item_id: 'id' } }],
    dependsOn: ['issueTypeRequirement', 'issueTypeBug', 'issueTypeIncident'],
    edition: 2,
    *rows(item, { read }) {
      yield read(workItems, item)
      for (const name of tagsOf(item)) yield read(tags, { name }, { work_item_id: item.id })
      yield* peopleIn([creator(item), assignee(item)], { read })
    },
  },
  convert: {
    to: [issues, boardIssues, sprintIssues, issueAssignees],
    dependsOn: ['issueTextIncident'],
    lookups: {
      states: wholeTable(states, 'name', (scope: Repo) => ({ board_id: scope.id })),
      links: manyByKey(links, 'child_id', ({ id }) => id),
      iterations: wholeTable(iterations, 'id', (scope: Repo) => ({ board_id: scope.id })),
    },
    *rows(item, { idOf, scope, scopeConfig, lookups }) {
      if (item.is_deleted) return
      const id = idOf(workItems, item.id)
      const status = statusOf(lookups.states.get(stateName(item.type, item.state))?.category, item.state)
      const resolution_date = status === 'DONE' ? item.closed_date : null
      const parent = lookups.links.get(item.id)?.find(({ is_active }) => is_active)?.parent_id
      yield issues.row({
        id,
        url: `${scope.url}/_workitems/edit/${item.id}`,
        issue_key: String(item.id),
        title: item.title,
        description: item.description,
        type: scopeConfig.typeOrText(item.std_type, item.title, item.description),
        original_type: item.type,
        status,
        original_status: item.state,
        resolution_date,
        created_date: item.created_date,
        updated_date: item.changed_date,
        lead_time_minutes: minutesBetween(item.created_date, resolution_date),
        parent_issue_id: parent ? idOf(workItems, parent) : '',
        story_point: item.story_points,
        creator_id: idOf(users, item.creator_id || null),
        creator_name: item.creator_name,
        assignee_id: idOf(users, item.assignee_id || null),
        assignee_name: item.assignee_name,
        priority: item.priority,
        severity: item.severity,
        component: item.area_path,
        due_date: item.due_date,
        original_project: scope.project_id,
      })
      yield boardIssues.row({ board_id: idOf(repos, item.board_id), issue_id: id })
      if (lookups.iterations.has(item.iteration_id)) {
        yield sprintIssues.row({ sprint_id: idOf(iterations, item.iteration_id), issue_id: id })
      }
      if (item.assignee_id) {
        yield issueAssignees.row({
          issue_id: id,
          assignee_id: idOf(users, item.assignee_id),
          assignee_name: item.assignee_name,
        })
      }
    },
  },
})

export const tagsEntity = entity(tags, {
  label: 'Work Item Tags',
  domainTypes: ['TICKET'],
  convert: {
    to: [issueLabels],
    joins: { item: innerJoin(workItems, { connection_id: 'connection_id', id: 'work_item_id' }) },
    where: ({ id }) => ({ 'item.board_id': id, 'item.is_deleted': false }),
    replaces: [RAW],
    rows: ({ work_item_id, name }, { idOf }) => [
      issueLabels.row({ issue_id: idOf(workItems, work_item_id), label_name: name }),
    ],
  },
})

export const linksEntity = entity(links, {
  label: 'Work Item Links',
  domainTypes: ['TICKET'],
  raw: 'azuredevops_go_api_work_item_links',
  collect: {
    when: plans,
    request: ({ scope }) =>
      versioned(inProject(scope, 'wit/reporting/workitemlinks'), { linkTypes: 'System.LinkTypes.Hierarchy-Forward' }),
    paging: reported,
    records: ({ values }) => values,
    key: ({ attributes }) => [attributes.sourceId, attributes.targetId],
    incremental: since,
  },
})
