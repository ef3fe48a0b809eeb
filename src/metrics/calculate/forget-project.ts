import type { Database } from '../../database/database.ts'
import { commitsDiffs } from '../../domain/code.ts'
import { pullRequestIssues } from '../../domain/crossdomain.ts'
import { cicdDeploymentCommits, cicdDeployments } from '../../domain/devops.ts'
import { incidents, issueAssigneeHistory, issueStatusHistory } from '../../domain/ticket.ts'
import type { Forgetting } from './calculation.ts'
import { forgetDeploymentRanges } from './commit-ranges.ts'
import { forgetDeploymentCommits, forgetDeployments } from './deployments.ts'
import { forgetIncidents } from './incidents.ts'
import { forgetAssigneeHistory, forgetStatusHistory } from './issue-history.ts'
import { forgetLinks } from './pull-request-issues.ts'
import { inTurn } from './results.ts'

/** The functions that remove results, by the name of the result, for which `inTurn` lets only one run work at a time. */
const FORGETTING: ReadonlyMap<string, Forgetting> = new Map([
  [cicdDeployments.name, forgetDeployments],
  [cicdDeploymentCommits.name, forgetDeploymentCommits],
  [commitsDiffs.name, forgetDeploymentRanges],
  [incidents.name, forgetIncidents],
  [pullRequestIssues.name, forgetLinks],
  [issueStatusHistory.name, forgetStatusHistory],
  [issueAssigneeHistory.name, forgetAssigneeHistory],
])

/**
 * Removes what was calculated for a project in tables that have no column for the project, unless another project needs it too.
 * It uses the mapping of the project, which must still exist.
 */
export async function forgetProject(inside: Database, project: string): Promise<void> {
  for (const [result, forget] of FORGETTING) await inTurn(inside, result, (turn) => forget(turn, project))
}
