import { checksOf } from '../support/extra-config.ts'

const FOLDERS = ['src/database', 'tests/upgrade', 'tests/conformance', 'tests/metrics']
/** DevLake's specification about tables and numbers, statement by statement. */
const WALK = 'tests/api/specification-walk.test.ts'

export default checksOf([...FOLDERS.map((folder) => `${folder}/**/*.test.ts`), WALK], false)
