/** What runs as the engine 'mysql': MariaDB of this machine, or the MySQL whose files are in the folder MYSQL_SERVER. */
import { existsSync, globSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

type Command = readonly [program: string, ...parameters: string[]]

export interface MysqlProgram {
  /** Makes the first files of a server whose folder this is; `options` go with both. */
  create(folder: string, options: readonly string[]): Command
  /** Settings that make it quick and forgetful are in it. */
  serve(options: readonly string[]): Command
}

/** Debian keeps servers in sbin, which is not on a normal user's PATH. */
const find = (program: string): string | undefined =>
  [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/usr/local/sbin']
    .map((folder) => join(folder, program))
    .find((path) => existsSync(path))

function mariadb(): MysqlProgram | undefined {
  const [install, server] = [find('mariadb-install-db'), find('mariadbd')]
  if (!install || !server) return undefined
  const quick = [
    ...['--sync-frm=0', '--debug-no-sync', '--innodb-log-file-size=64M'],
    ...['--aria-pagecache-buffer-size=8M'],
  ]
  return {
    create: (_folder, options) => [
      install,
      ...options,
      '--auth-root-authentication-method=normal',
      '--skip-test-db',
      '--skip-name-resolve',
    ],
    serve: (options) => [server, ...options, ...quick],
  }
}

/** Its own loader and libraries run it, so that it needs none of the machine's, and no other root. */
export function mysqlOf(root: string): MysqlProgram | undefined {
  const [loader] = globSync(join(root, 'usr/lib/*-linux-gnu/ld-linux-*.so.*'))
  const server = join(root, 'usr/sbin/mysqld')
  if (!loader || !existsSync(server)) return undefined
  const run = (options: readonly string[]): Command => [
    ...([loader, '--library-path', dirname(loader), server, ...options] as const),
    `--basedir=${join(root, 'usr')}`,
    `--lc-messages-dir=${join(root, 'usr/share/mysql')}`,
    '--skip-log-bin',
    // A folder of the machine, else.
    '--secure-file-priv=NULL',
  ]
  return {
    create(folder, options) {
      const users = join(folder, 'users.sql')
      // The other server's, too: one that names no hosts takes this for another host than localhost.
      const everything = `grant all on *.* to root@'127.0.0.1' with grant option;`
      writeFileSync(users, `create user root@'127.0.0.1';\n${everything}\n`)
      return run([...options, '--initialize-insecure', `--init-file=${users}`])
    },
    // Its packets are those of the other server.
    serve: (options) =>
      run([...options, '--mysqlx=OFF', '--innodb-redo-log-capacity=128M', '--max-allowed-packet=16M']),
  }
}

export const mysqlProgram = (): MysqlProgram | undefined =>
  process.env.MYSQL_SERVER ? mysqlOf(process.env.MYSQL_SERVER) : mariadb()
