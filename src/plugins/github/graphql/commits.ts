import type { RawRecord } from '../../../database/table.ts'
import { addressOf, inRepo, type Repo } from '../kit.ts'

const PERSON = '{ name email user { databaseId login } }'
export const COMMIT_FIELDS = `oid message authoredDate committedDate author ${PERSON} committer ${PERSON}`

/** The e-mail address that GitHub gives a bot for its commits, on any host. It contains the id and the login. */
const BOT_ADDRESS = /^(\d+)\+(.+\[bot\])@users\.noreply\./

/** In GraphQL, only people are authors of commits. REST also names bots, which are recognised here by their address. */
function account(person: RawRecord) {
  if (person?.user) return { id: person.user.databaseId, login: person.user.login }
  const [, id, login] = BOT_ADDRESS.exec(person?.email ?? '') ?? []
  return id ? { id: Number(id), login } : null
}

/** Returns a commit in the shape of REST. */
export const commitOf = (commit: RawRecord, context: { connection: { endpoint: string }; scope: Repo }) => ({
  sha: commit.oid,
  url: addressOf(context, inRepo(context.scope, `commits/${commit.oid}`)),
  author: account(commit.author),
  committer: account(commit.committer),
  commit: {
    message: commit.message,
    author: { ...commit.author, date: commit.authoredDate },
    committer: { ...commit.committer, date: commit.committedDate },
  },
})
