import { issueRepoCommits } from '../../../domain/crossdomain.ts'
import type { RepoCommit } from '../commit-links.ts'
import { issues } from '../issue.ts'
import { entity, onBoard } from '../kit.ts'
import { COMMIT_SOURCES, issueCommits } from './issue-commits.ts'

export default entity(issueCommits, {
  label: 'Issue Repo Commits',
  domainTypes: ['CROSS'],
  convert: {
    ...onBoard,
    to: [issueRepoCommits],
    replaces: COMMIT_SOURCES,
    dependsOn: ['remotelinkRepoPattern'],
    rows({ issue_id, commit_sha, commit_url, repo_url }, { idOf, scopeConfig }) {
      const repo = repoOf(commit_url, scopeConfig.repoCommitOf(commit_url)) ?? {
        repo_url: repo_url || /^(.*)-\/commit/.exec(commit_url)?.[1],
      }
      if (!repo.repo_url) return []
      return [issueRepoCommits.row({ issue_id: idOf(issues, issue_id), commit_sha, ...repo, repo_url: repo.repo_url })]
    },
  },
})

function repoOf(commitUrl: string, found: RepoCommit | undefined) {
  const url = URL.parse(commitUrl)
  if (!url || !found) return undefined
  const { namespace, repo_name } = found
  return { repo_url: `${url.origin}/${namespace}/${repo_name}.git`, host: url.host, namespace, repo_name }
}
