import { byName } from '../basics/by-name.ts'
import { UnavailableError, UserError } from '../errors.ts'

/** An error that the user can fix, or must wait out. */
export type Explained = UserError | UnavailableError

/** The kinds of trouble with a database server or the connection to it, for all databases. */
export type Trouble = keyof typeof TROUBLES | 'packet'

interface Address {
  readonly host: string
  readonly server: string
  readonly user: string
  readonly database: string
}
interface Sentences {
  /** For the operator of this server: in its log and on its terminal. */
  readonly own: (database: Address) => string
  /** For users and programs that send requests. */
  readonly others: string
}

const TOO_LARGE = 'A record is larger than the database accepts. Raise its max_allowed_packet, to 64M for example.'
const AWAY = 'The database does not answer. Try again in a few seconds.'
const BARRED = 'Weir cannot sign in to its database. The log of the server says why.'

const TROUBLES = {
  refused: {
    own: ({ server }) => `No database answers at ${server}. Start it, or correct host and port in DB_URL.`,
    others: AWAY,
  },
  unknownHost: { own: ({ host }) => `The host ${host} of DB_URL is not known. Correct the name.`, others: AWAY },
  silent: {
    own: ({ server }) => `The database at ${server} does not answer. Check host, port and firewall.`,
    others: AWAY,
  },
  lost: {
    own: ({ server }) => `The connection to the database at ${server} was lost. It may be starting again.`,
    others: AWAY,
  },
  password: {
    own: ({ server, user }) =>
      `The database at ${server} refuses user ${user}: wrong password or no access. Correct DB_URL.`,
    others: BARRED,
  },
  missing: {
    own: ({ server, database }) =>
      `The database ${database} does not exist at ${server}. Create it, or name another in DB_URL.`,
    others: BARRED,
  },
  rights: {
    own: ({ user, database }) =>
      `User ${user} may not create or change tables in ${database}. Grant it, or use another user in DB_URL.`,
    others: BARRED,
  },
  readOnly: {
    own: ({ server }) =>
      `The database at ${server} does not accept changes (read-only). Use its primary server, or a user that may write.`,
    others: 'The database does not accept changes now (read-only).',
  },
  diskFull: {
    own: ({ server }) => `The disk of the database at ${server} is full. Free some space, then start again.`,
    others: 'The disk of the database is full.',
  },
  noConnection: {
    own: ({ server }) =>
      `The database at ${server} has no free connection. Raise its connection limit, or stop other clients.`,
    others: 'The database has no free connection. Try again in a few seconds.',
  },
  unsafe: {
    own: ({ server }) =>
      `The connection to the database at ${server} could not be secured. Check its certificate or the ssl settings in DB_URL.`,
    others: BARRED,
  },
} satisfies Record<string, Sentences>

/** Network errors have the same codes for every database; `codes` adds those of each database. */
const NETWORK: Record<string, Trouble> = byName({
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'silent',
  ENETUNREACH: 'silent',
  ETIMEDOUT: 'silent',
  ENOTFOUND: 'unknownHost',
  EAI_AGAIN: 'unknownHost',
  ECONNRESET: 'lost',
  ECONNABORTED: 'lost',
  EPIPE: 'lost',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'unsafe',
  SELF_SIGNED_CERT_IN_CHAIN: 'unsafe',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'unsafe',
})
/** Messages of errors to which drivers give no code. */
const LOST =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout e|Can't add new command when connection is in closed state|Cannot use a pool after calling end|Pool is closed|Connection lost|Connection was killed)/

/** True when another row has the same key, or the same value in a unique column. */
export const isDuplicate = (error: unknown): boolean => ['23505', 'ER_DUP_ENTRY'].includes(codeOf(error))

/** The unique index that the row violates, by the name that the database reports. */
export function duplicateIndex(error: unknown): string {
  const { constraint, sqlMessage } = error as { constraint?: string; sqlMessage?: string }
  return constraint ?? (/'([^']*)'$/.exec(sqlMessage ?? '')?.[1] ?? '').split('.').at(-1) ?? ''
}

/** True when the server ended a statement because it took too long. */
export const isTooSlow = (error: unknown): boolean =>
  ['57014', 'ER_STATEMENT_TIMEOUT', 'ER_QUERY_TIMEOUT'].includes(codeOf(error))

export const codeOf = (error: unknown): string => {
  const { code, errors } = error as { code?: string; errors?: unknown[] }
  return code ?? (errors?.length ? codeOf(errors[0]) : '')
}

function addressOf(url: string, defaultPort: number): Address {
  const { hostname, port, username, pathname } = new URL(url)
  const host = hostname || 'localhost'
  return { host, server: `${host}:${port || defaultPort}`, user: username, database: pathname.slice(1) }
}

function troubleOf(codes: Record<string, Trouble>, error: unknown): Trouble | undefined {
  const code = codeOf(error)
  return codes[code] ?? NETWORK[code] ?? (error instanceof Error && LOST.test(error.message) ? 'lost' : undefined)
}

/** Makes a test for lost connections, ended by the server or the network. `codes` are the same as for `explainWith`. */
export const isLostWith =
  (codes: Record<string, Trouble>) =>
  (error: unknown): boolean =>
    troubleOf(codes, error) === 'lost'

export function explainWith(codes: Record<string, Trouble>, url: string, defaultPort: number) {
  const address = addressOf(url, defaultPort)
  return (error: unknown): Explained | undefined => {
    const trouble = troubleOf(codes, error)
    if (!trouble) return undefined
    if (trouble === 'packet') return new UserError(TOO_LARGE, { cause: error })
    const { own, others } = TROUBLES[trouble]
    return new UnavailableError(own(address), { publicMessage: others, cause: error })
  }
}

const MEGABYTE = 1 << 20

/**
 * The error for a row that is too large for any statement; sending it would break the connection. Without a table it is about
 * any statement.
 */
export function rowTooLarge(row: { table: string; bytes: number; most: number }) {
  const [taken, most] = [row.bytes, row.most].map((bytes) => (bytes / MEGABYTE).toFixed(1))
  const enough = 2 ** Math.ceil(Math.log2((row.bytes + MEGABYTE) / MEGABYTE))
  const what = row.table ? `A row of ${row.table}` : 'It'
  return new UserError(
    `${what} has ${taken} MB, and the database takes ${most} MB at once. Raise its max_allowed_packet, to ${enough}M for example, and start Weir again.`,
  )
}
