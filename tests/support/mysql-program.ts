/** The program that tests start for the engine 'mysql': MariaDB of this machine, or the MySQL whose files are in the folder MYSQL_SERVER. */
import { existsSync, globSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

type Command = readonly [program: string, ...parameters: string[]]

export interface MysqlProgram {
  /** The command that makes the first files of the server in this folder. The same `options` go to `serve`. */
  create(folder: string, options: readonly string[]): Command
  /** The command that starts the server. It includes settings that make the server fast at the cost of durability. */
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
  const quick = ['--sync-frm=0', '--debug-no-sync', '--innodb-log-file-size=64M', '--aria-pagecache-buffer-size=8M']
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

/** MySQL runs with the loader and libraries from its own folder, so it needs none of the machine's and no chroot. */
export function mysqlOf(root: string): MysqlProgram | undefined {
  const [loader] = globSync(join(root, 'usr/lib/*-linux-gnu/ld-linux-*.so.*'))
  const server = join(root, 'usr/sbin/mysqld')
  if (!loader || !existsSync(server)) return undefined
  const run = (options: readonly string[]): Command => [
    ...([loader, '--library-path', dirname(loader), server, ...options] as const),
    `--basedir=${join(root, 'usr')}`,
    `--lc-messages-dir=${join(root, 'usr/share/mysql')}`,
    '--skip-log-bin',
    // Without this, MySQL uses a folder of the machine.
    '--secure-file-priv=NULL',
  ]
  return {
    create(folder, options) {
      const users = join(folder, 'users.sql')
      // MariaDB's installation creates this account too. A server that resolves no host names does not treat 127.0.0.1 as localhost.
      const everything = `grant all on *.* to root@'127.0.0.1' with grant option;`
      writeFileSync(users, `create user root@'127.0.0.1';\n${everything}\n`)
      return run([...options, '--initialize-insecure', `--init-file=${users}`])
    },
    // The packet limit is the same as MariaDB's.
    serve: (options) =>
      run([...options, '--mysqlx=OFF', '--innodb-redo-log-capacity=128M', '--max-allowed-packet=16M']),
  }
}

export const mysqlProgram = (): MysqlProgram | undefined =>
  process.env.MYSQL_SERVER ? mysqlOf(process.env.MYSQL_SERVER) : mariadb()
