/** A pull request as GitHub's list endpoint sends it, 2 to 4 KB, the same for the same number. */
export function pullRequest(number: number) {
  const repository = 'https://api.github.com/repos/weir/bench'
  const user = person(number % 97)
  const created = new Date(Date.UTC(2024, 0, 1) + number * 600_000)
  const merged = number % 5 === 0 ? null : new Date(created.getTime() + 86_400_000).toISOString()
  const sha = (salt: number) => (number * 2_654_435_761 + salt).toString(16).padStart(40, '0').slice(-40)
  return {
    url: `${repository}/pulls/${number}`,
    id: 500_000_000 + number,
    node_id: `PR_${number}`,
    html_url: `https://github.com/weir/bench/pull/${number}`,
    diff_url: `https://github.com/weir/bench/pull/${number}.diff`,
    patch_url: `https://github.com/weir/bench/pull/${number}.patch`,
    issue_url: `${repository}/issues/${number}`,
    commits_url: `${repository}/pulls/${number}/commits`,
    review_comments_url: `${repository}/pulls/${number}/comments`,
    statuses_url: `${repository}/statuses/${sha(1)}`,
    number,
    state: merged ? 'closed' : 'open',
    locked: false,
    title: `Change ${number}: make part ${number % 31} of the house clearer`,
    user,
    body: `Fixes #${number - 1}\n\n${'What it does, why it does it, and how it was tried.\n'.repeat(1 + (number % 20))}`,
    labels: [label(number % 11), label(number % 13)],
    milestone: null,
    draft: number % 17 === 0,
    created_at: created.toISOString(),
    updated_at: merged ?? created.toISOString(),
    closed_at: merged,
    merged_at: merged,
    merge_commit_sha: sha(2),
    assignee: null,
    assignees: [],
    requested_reviewers: [person((number + 1) % 97)],
    requested_teams: [],
    head: {
      label: `weir:change-${number}`,
      ref: `change-${number}`,
      sha: sha(3),
      user,
      repo: { id: 42, full_name: 'weir/bench' },
    },
    base: { label: 'weir:main', ref: 'main', sha: sha(4), user, repo: { id: 42, full_name: 'weir/bench' } },
    author_association: 'MEMBER',
    auto_merge: null,
  }
}
const person = (id: number) => ({
  login: `developer-${id}`,
  id: 1000 + id,
  node_id: `U_${id}`,
  avatar_url: `https://avatars.githubusercontent.com/u/${1000 + id}?v=4`,
  html_url: `https://github.com/developer-${id}`,
  type: 'User',
  site_admin: false,
})
const label = (id: number) => ({
  id: 77 + id,
  name: `type/kind-${id}`,
  color: 'ededed',
  default: false,
  description: '',
})
