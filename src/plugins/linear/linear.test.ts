import { join } from 'node:path'
import { startFakeLinear, TOKEN } from '../../../tests/fake-linear/fake-linear.ts'
import { describeFixtures, describeVendor } from '../../../tests/support/plugin-suite.ts'
import { linear } from './plugin.ts'

describeFixtures(linear, join(import.meta.dirname, 'fixtures'))

const START = Date.parse('2026-05-01T08:00:00.000Z')
const HOUR = 3_600_000

async function start() {
  const fake = await startFakeLinear()
  const { world } = fake
  let now = START
  world.now = () => new Date(now)
  const team = world.addTeam('team-1', 'Engineering', 'ENG')
  world.addTeam('team-2', 'Design', 'DES')
  const cycle = world.addCycle(team)
  // More labels than an issue brings at once.
  const labels = Array.from({ length: 25 }, (_, number) => ({ id: `many-${number}`, name: `area ${number}` }))
  const [first, second] = [world.open(team, { labels: [1], title: 'It burns' }), world.open(team)]
  now += HOUR
  world.move(first, 1)
  world.comment(first, 1)
  world.plan(first, cycle)
  now += HOUR
  world.move(first, 2)
  world.relate(second, first)
  world.assign(second, 2)
  if (second) second.labels = labels
  world.trash(world.open(team))
  world.now = () => new Date()
  return fake
}

describeVendor({
  plugin: linear,
  start,
  connection: { token: TOKEN },
  scope: { team_id: 'team-1', name: 'Engineering', key: 'ENG' },
  options: { teamId: 'team-1' },
  scopeConfig: { issueTypeIncident: '(?i)incident' },
  other: { scope: { team_id: 'team-2', name: 'Design', key: 'DES' }, options: { teamId: 'team-2' } },
  unproven: ['Users', 'Workflow States', 'Issues', 'Comments', 'Cycles', 'Issue History'].map(
    (label) => `Collect ${label}`,
  ),
  remote: ['team-1', 'team-2'],
  rows: {
    boards: [{ id: 'linear:LinearTeam:1:team-1', name: 'Engineering', type: 'linear' }],
    issues: [
      {
        id: 'linear:LinearIssue:1:issue-2',
        issue_key: 'ENG-1',
        type: 'INCIDENT',
        status: 'DONE',
        original_status: 'Done',
        lead_time_minutes: 120,
        creator_name: 'ada',
        assignee_id: '',
        is_subtask: false,
      },
      {
        id: 'linear:LinearIssue:1:issue-3',
        type: 'REQUIREMENT',
        status: 'TODO',
        lead_time_minutes: null,
        assignee_id: 'linear:LinearAccount:1:user-2',
        parent_issue_id: 'linear:LinearIssue:1:issue-2',
        is_subtask: true,
      },
    ],
    issue_assignees: [{ issue_id: 'linear:LinearIssue:1:issue-3', assignee_name: 'cleo' }],
    issue_relationships: [
      {
        source_issue_id: 'linear:LinearIssue:1:issue-3',
        target_issue_id: 'linear:LinearIssue:1:issue-2',
        original_type: 'blocks',
      },
    ],
    issue_comments: [{ account_id: 'linear:LinearAccount:1:user-1', body: 'Seen' }],
    sprints: [{ name: 'Cycle 1' }],
    sprint_issues: [{ issue_id: 'linear:LinearIssue:1:issue-2' }],
    accounts: [{ full_name: 'ada', user_name: 'Ada', status: 1 }, { full_name: 'bo' }, { full_name: 'cleo' }],
  },
})
