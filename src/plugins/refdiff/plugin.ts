import { repos } from '../../domain/code.ts'
import {
  calculateDeploymentCommitsDiff,
  finishedCommitsDiffs,
  wantedRanges,
} from '../../metrics/calculate/commit-ranges.ts'
import {
  calculateCommitsDiff,
  calculateIssuesDiff,
  calculatePrCherryPick,
  forgetRanges,
} from '../../metrics/calculate/ref-ranges.ts'
import { calculations } from '../../metrics/calculate/results.ts'
import { calculation, type Plugin } from '../../plugin-kit/index.ts'

const GRAPH = ['repo_commits', 'commit_parents']
const RANGES = ['commits_diffs', finishedCommitsDiffs.name]

export const refdiff: Plugin = {
  name: 'refdiff',
  title: 'Commits between refs and deployments',
  tables: [calculations, finishedCommitsDiffs, wantedRanges],
  options: {
    repoId: { kind: 'text', label: 'Id of the repository, as in the table repos', example: '' },
    projectName: { kind: 'text', label: 'Project, to compare its deployments instead' },
    pairs: { kind: 'list', label: 'Pairs of refs, such as {"newRef": "v2", "oldRef": "v1"}' },
    tagsPattern: { kind: 'text', label: 'Tags to compare, by a pattern' },
    tagsLimit: { kind: 'number', label: 'How many tags, from the newest' },
    tagsOrder: { kind: 'text', label: 'alphabetically, reverse alphabetically, semver or reverse semver' },
  },
  forget: async (database, { table, rowId }) => {
    if (table === repos.name) await forgetRanges(database, rowId)
  },
  plans: {
    // This task comes after the scope, because tags can be compared only when the history is collected.
    afterScope: ({ repoId, settings: { refdiff: options } }) =>
      options && repoId ? { plugin: 'refdiff', subtasks: [], options: { ...options, repoId } } : undefined,
  },
  isUnsummarised: true,
  leases: ({ repoId, projectName }) => [
    ...(repoId ? [`repository ${repoId}`] : []),
    ...(projectName ? [`project ${projectName}`] : []),
  ],
  subtasks: [
    calculation(
      {
        name: 'calculateCommitsDiff',
        reads: ['refs', ...GRAPH],
        writes: [...RANGES, 'ref_commits'],
        domainTypes: ['CODE'],
      },
      calculateCommitsDiff,
    ),
    calculation(
      {
        name: 'calculateIssuesDiff',
        reads: ['refs', 'commits_diffs', 'pull_requests', 'pull_request_commits', 'pull_request_issues'],
        writes: ['refs_issues_diffs'],
        domainTypes: ['CROSS'],
      },
      calculateIssuesDiff,
    ),
    calculation(
      {
        name: 'calculatePrCherryPick',
        reads: ['pull_requests', 'repos'],
        writes: ['pull_requests', 'refs_pr_cherrypicks'],
        domainTypes: ['CODEREVIEW'],
      },
      calculatePrCherryPick,
    ),
    calculation(
      {
        name: 'calculateDeploymentCommitsDiff',
        reads: ['project_mapping', 'cicd_deployment_commits', ...GRAPH],
        writes: RANGES,
        domainTypes: ['CODE'],
      },
      calculateDeploymentCommitsDiff,
    ),
  ],
}
