import { bigint, key, text, timestamp, zeroTime } from '../../../database/table.ts'
import { boardSprints, sprintIssues, sprints } from '../../../domain/ticket.ts'
import { innerJoin } from '../../../plugin-kit/index.ts'
import { entity, inRepo, REST_PAGE, repoId, repos, table } from '../kit.ts'
import { issues } from './issues.ts'

export const milestones = table('milestones', 'GithubMilestone', {
  milestone_id: key(bigint('id')),
  repo_id: bigint(repoId),
  number: bigint(),
  url: text(),
  title: text(),
  open_issues: bigint(),
  closed_issues: bigint(),
  state: text(),
  github_created_at: zeroTime(timestamp('created_at')),
  github_updated_at: zeroTime(timestamp('updated_at')),
  closed_at: timestamp(),
})

/** Only milestones that have issues become sprints. */
export default entity(milestones, {
  label: 'Milestones',
  domainTypes: ['TICKET'],
  raw: 'github_milestones',
  collect: {
    request: ({ scope }) => ({ path: inRepo(scope, 'milestones'), query: { state: 'all', direction: 'asc' } }),
    paging: REST_PAGE,
    emptyOn: [404, 410], // issues are switched off
    canBeSwitchedOff: true,
  },
  convert: {
    to: [sprints, boardSprints, sprintIssues],
    joins: { issue: innerJoin(issues, { connection_id: 'connection_id', milestone_id: 'milestone_id' }) },
    where: ({ github_id }) => ({ 'issue.repo_id': github_id }),
    rows: ({ issue, ...milestone }, { idOf }) => {
      const sprint_id = idOf(milestones, milestone.milestone_id)
      const board_id = idOf(repos, milestone.repo_id)
      return [
        sprints.row({
          id: sprint_id,
          name: milestone.title,
          url: milestone.url,
          status: milestone.state,
          started_date: milestone.github_created_at,
          ended_date: milestone.closed_at,
          completed_date: milestone.closed_at,
          original_board_id: board_id,
        }),
        boardSprints.row({ board_id, sprint_id }),
        sprintIssues.row({ sprint_id, issue_id: idOf(issues, issue.github_id) }),
      ]
    },
  },
})
