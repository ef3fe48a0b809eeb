import { join } from 'node:path'
import ordinary from '../../vitest.config.ts'

export default {
  root: join(import.meta.dirname, '../..'),
  test: {
    ...ordinary.test,
    include: ['src/database', 'tests/upgrade', 'tests/conformance', 'tests/metrics'].map(
      (folder) => `${folder}/**/*.test.ts`,
    ),
  },
}
