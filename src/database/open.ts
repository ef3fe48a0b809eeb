import { byName } from '../basics/by-name.ts'
import { UserError } from '../errors.ts'
import type { Database } from './database.ts'

type Connect = (url: string, connections: number) => Promise<Database>

// Loaded on demand, so that the driver of the other database is never loaded.
const postgres: Connect = async (...place) => (await import('./postgres/connect.ts')).connectPostgres(...place)
const mysql: Connect = async (...place) => (await import('./mysql/connect.ts')).connectMysql(...place)

const CONNECT: Record<string, Connect> = byName({
  'postgres:': postgres,
  'postgresql:': postgres,
  'mysql:': mysql,
  'mariadb:': mysql,
})

const MOST_CONNECTIONS = 20

export async function openDatabase(url: string, connections = MOST_CONNECTIONS): Promise<Database> {
  if (!URL.canParse(url)) {
    throw new UserError(
      'DB_URL is not an address. Write it as postgres://user:password@host:5432/lake or mysql://user:password@host:3306/lake.',
    )
  }
  const { protocol, pathname } = new URL(url)
  const connect = CONNECT[protocol]
  if (!connect)
    throw new UserError(`DB_URL begins with ${protocol}//, which is not supported. Use postgres:// or mysql://.`)
  if (pathname.length < 2)
    throw new UserError('DB_URL has no database name. Add its name at the end, for example /lake.')
  return connect(url, connections)
}
