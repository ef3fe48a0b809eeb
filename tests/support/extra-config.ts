import { join } from 'node:path'
import ordinary, { SHARED } from '../../vitest.config.ts'

/** The ordinary settings for the given files. The `projects` of the ordinary settings are left out: they would add their own files. */
export function checksOf(include: readonly string[], isolate = true) {
  const { projects: _, ...test } = ordinary.test ?? {}
  return { root: join(import.meta.dirname, '../..'), test: { ...test, ...SHARED, include: [...include], isolate } }
}

/** For the `*.check.ts` files of one folder of tests. */
export const checksIn = (folder: string) => checksOf([`tests/${folder}/*.check.ts`])
