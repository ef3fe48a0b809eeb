/**
 * npm run check:kubernetes: the Kubernetes side of a switch against real API servers. They are built from the Go module
 * proxy once and kept below the user's cache folder; etcd comes from Debian's packages.
 */
import { runChecks, skip } from '../support/extra-check.ts'
import { install } from './program.ts'

const reason = install()
process.exitCode = reason ? skip('a Kubernetes API server', reason) : await runChecks(import.meta.dirname)
