import { join } from 'node:path'
import ordinary from '../../vitest.config.ts'

/** The ordinary settings for the `*.check.ts` files of one folder of tests. */
export const checksIn = (folder: string) => ({
  root: join(import.meta.dirname, '../..'),
  test: { ...ordinary.test, include: [`tests/${folder}/*.check.ts`] },
})
