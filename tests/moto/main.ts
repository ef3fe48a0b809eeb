/** npm run check:aws: tests the AWS side of a switch with moto's server from PyPI, an independent implementation. */
import { runChecks, skip } from '../support/extra-check.ts'
import { installProgram } from '../support/pypi.ts'

const { path, problem } = installProgram('moto[server]', '5.2.5', 'moto_server')
process.exitCode = problem ? skip('moto', problem) : await runChecks(import.meta.dirname, { MOTO_SERVER: path })
