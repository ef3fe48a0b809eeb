/**
 * npm run check:kubernetes: tests the Kubernetes side of a switch with real API servers. They are built once from the Go
 * module proxy and kept below the user's cache folder. etcd comes from Debian's packages.
 */
import { runChecks, skip } from '../support/extra-check.ts'
import { install } from './program.ts'

const reason = install()
process.exitCode = reason ? skip('a Kubernetes API server', reason) : await runChecks(import.meta.dirname)
