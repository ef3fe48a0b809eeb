import { UserError } from '../errors.ts'

/** What can be wrong between us and a database server, whichever engine it is. */
export type Trouble = keyof typeof SENTENCES

interface Place {
  readonly host: string
  readonly server: string
  readonly user: string
  readonly database: string
}

const SENTENCES = {
  refused: ({ server }: Place) => `No database answers at ${server}. Start it, or correct host and port in DB_URL.`,
  unknownHost: ({ host }: Place) => `The host ${host} of DB_URL is not known. Correct the name.`,
  silent: ({ server }: Place) => `The database at ${server} does not answer. Check host, port and firewall.`,
  password: ({ server, user }: Place) =>
    `The database at ${server} refuses user ${user}: wrong password or no access. Correct DB_URL.`,
  missing: ({ server, database }: Place) =>
    `The database ${database} does not exist at ${server}. Create it, or name another in DB_URL.`,
  rights: ({ user, database }: Place) =>
    `User ${user} may not create or change tables in ${database}. Grant it, or use another user in DB_URL.`,
  readOnly: ({ server }: Place) =>
    `The database at ${server} takes no changes (read-only). Use its primary server, or a user that may write.`,
  diskFull: ({ server }: Place) => `The disk of the database at ${server} is full. Free some space, then start again.`,
  noConnection: ({ server }: Place) =>
    `The database at ${server} has no free connection. Raise its connection limit, or stop other clients.`,
  packet: ({ server }: Place) =>
    `A record is larger than the database at ${server} takes. Raise its max_allowed_packet, to 64M for example.`,
  unsafe: ({ server }: Place) =>
    `The connection to the database at ${server} could not be secured. Check its certificate or the ssl settings in DB_URL.`,
} satisfies Record<string, (place: Place) => string>

/** Network troubles have the same codes everywhere; `codes` adds the engine's own. */
const NETWORK: Record<string, Trouble> = {
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'silent',
  ENETUNREACH: 'silent',
  ETIMEDOUT: 'silent',
  ENOTFOUND: 'unknownHost',
  EAI_AGAIN: 'unknownHost',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'unsafe',
  SELF_SIGNED_CERT_IN_CHAIN: 'unsafe',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'unsafe',
}

/** Another row has the same key, or the same value in a column that is unique. */
export const isDuplicate = (error: unknown): boolean => ['23505', 'ER_DUP_ENTRY'].includes(codeOf(error))

export const codeOf = (error: unknown): string => {
  const { code, errors } = error as { code?: string; errors?: unknown[] }
  return code ?? (errors?.length ? codeOf(errors[0]) : '')
}

function placeOf(url: string, defaultPort: number): Place {
  const { hostname, port, username, pathname } = new URL(url)
  const host = hostname || 'localhost'
  return { host, server: `${host}:${port || defaultPort}`, user: username, database: pathname.slice(1) }
}

export function explainWith(codes: Record<string, Trouble>, url: string, defaultPort: number) {
  const place = placeOf(url, defaultPort)
  return (error: unknown): UserError | undefined => {
    const trouble = codes[codeOf(error)] ?? NETWORK[codeOf(error)]
    return trouble && new UserError(SENTENCES[trouble](place), { cause: error })
  }
}

const MEGABYTE = 1 << 20

/** A row that no statement can bring to the server: sent all the same, it would break the connection. */
export function rowTooLarge(url: string, defaultPort: number, row: { table: string; bytes: number; most: number }) {
  const { server } = placeOf(url, defaultPort)
  const [taken, most] = [row.bytes, row.most].map((bytes) => (bytes / MEGABYTE).toFixed(1))
  const enough = 2 ** Math.ceil(Math.log2((row.bytes + MEGABYTE) / MEGABYTE))
  return new UserError(
    `A row of ${row.table} has ${taken} MB, and the database at ${server} takes ${most} MB at once. Raise its max_allowed_packet, to ${enough}M for example, and start Weir again.`,
  )
}
