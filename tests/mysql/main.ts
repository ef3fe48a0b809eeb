/**
 * npm run check:mysql: tests everything that differs between servers on a real MySQL instead of MariaDB: tables and their
 * migrations, DevLake's cases if they are here, and the metrics. Arguments can name single files.
 */
import { runChecks, skip } from '../support/extra-check.ts'
import { install, root } from './program.ts'

const reason = install()
process.exitCode = reason
  ? skip('MySQL', reason)
  : await runChecks(import.meta.dirname, { MYSQL_SERVER: root, DATABASES: 'mysql' })
