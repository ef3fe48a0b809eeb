/** npm run check:chart: renders the Helm chart by the real Helm, which Go builds once and the user's cache folder keeps. */
import { runChecks, skip } from '../support/extra-check.ts'
import { missing } from './support/helm.ts'
import { keepAsChecked } from './support/helm-program.ts'

process.exitCode = missing ? skip('Helm', missing) : await runChecks(import.meta.dirname)
if (!missing && process.exitCode === 0) keepAsChecked()
