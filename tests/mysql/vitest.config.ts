import { checksOf } from '../support/extra-config.ts'

const FOLDERS = ['src/database', 'tests/upgrade', 'tests/conformance', 'tests/metrics']

export default checksOf(
  FOLDERS.map((folder) => `${folder}/**/*.test.ts`),
  false,
)
