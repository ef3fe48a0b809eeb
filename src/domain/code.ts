/** Repositories, their commits, branches and tags. */
import {
  bigint,
  boolean,
  common,
  commonInBulk,
  defineTable,
  indexed,
  integer,
  key,
  string,
  text,
  timestamp,
  zeroTime,
} from '../database/table.ts'

export const repos = defineTable(
  'repos',
  {
    id: key(string()),
    name: text(),
    url: text(),
    description: text(),
    owner_id: string(),
    language: string(),
    forked_from: text(),
    created_date: timestamp(),
    updated_date: timestamp(),
    deleted: boolean(),
    ...common,
  },
  { meaning: 'A source repository.' },
)

export const repoCommits = defineTable(
  'repo_commits',
  {
    repo_id: key(string()),
    commit_sha: key(string(40)),
    ...commonInBulk,
  },
  { meaning: 'Which commits a repository holds.' },
)

export const repoLanguages = defineTable(
  'repo_languages',
  {
    repo_id: indexed(string()),
    language: string(),
    bytes: bigint(),
  },
  { meaning: 'How many bytes of each language a repository holds. No plugin fills it.' },
)

export const repoSnapshot = defineTable(
  'repo_snapshot',
  {
    repo_id: key(string()),
    commit_sha: key(string(40)),
    file_path: key(string()),
    line_no: key(integer()),
    ...common,
  },
  { meaning: 'Blame: the commit that last wrote each line at the head of a repository.' },
)

export const commits = defineTable(
  'commits',
  {
    sha: key(string(40)),
    additions: bigint(),
    deletions: bigint(),
    dev_eq: bigint(),
    message: text(),
    author_name: string(),
    author_email: string(),
    authored_date: zeroTime(timestamp()),
    author_id: string(),
    committer_name: string(),
    committer_email: string(),
    committed_date: zeroTime(timestamp()),
    committer_id: indexed(string()),
    ...commonInBulk,
  },
  { meaning: 'A git commit; its key is the sha alone, so repositories share it.' },
)

export const commitParents = defineTable(
  'commit_parents',
  {
    commit_sha: key(string(40)),
    parent_commit_sha: key(string(40)),
    ...commonInBulk,
  },
  { meaning: 'Edges of the commit graph, child to parent.' },
)

export const commitFiles = defineTable(
  'commit_files',
  {
    id: key(string()),
    commit_sha: indexed(string(40)),
    file_path: string(1024),
    additions: bigint(),
    deletions: bigint(),
    ...commonInBulk,
  },
  { meaning: 'A file changed by a commit.' },
)

export const commitLineChange = defineTable(
  'commit_line_change',
  {
    id: key(string()),
    commit_sha: string(40),
    new_file_path: string(),
    line_no_new: integer(),
    line_no_old: integer(),
    old_file_path: string(),
    hunk_num: integer(),
    changed_type: string(),
    prev_commit: string(),
    ...common,
  },
  { meaning: 'A line that a commit added or removed, and the commit that wrote it before.' },
)

export const commitsDiffs = defineTable(
  'commits_diffs',
  {
    new_commit_sha: key(string(40)),
    old_commit_sha: key(string(40)),
    commit_sha: key(string(40)),
    sorting_index: bigint(),
  },
  { meaning: 'The commits that lie between an old and a new commit, numbered in order.' },
)

export const components = defineTable(
  'components',
  {
    name: key(string()),
    repo_id: string(),
    path_regex: string(),
  },
  { meaning: 'A part of a repository, defined by a pattern for paths.' },
)

export const commitFileComponents = defineTable(
  'commit_file_components',
  {
    commit_file_id: key(string()),
    component_name: string(),
    ...commonInBulk,
  },
  { meaning: 'The component that a changed file belongs to.' },
)

export const refs = defineTable(
  'refs',
  {
    id: key(string(500)),
    repo_id: string(),
    name: string(),
    commit_sha: string(40),
    is_default: boolean(),
    ref_type: string(),
    created_date: timestamp(),
    ...common,
  },
  { meaning: 'A branch or tag and the commit it points to.' },
)

export const refCommits = defineTable(
  'ref_commits',
  {
    new_ref_id: key(string()),
    old_ref_id: key(string()),
    new_commit_sha: string(40),
    old_commit_sha: string(40),
  },
  { meaning: 'Two refs to compare, with the commits they stood for.' },
)
