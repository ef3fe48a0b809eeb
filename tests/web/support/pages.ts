/** Every page of the web client, found in the `places` files, so that a new one is not forgotten. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import type { Filled } from './filled.ts'

const web = join(import.meta.dirname, '../../../web')

/** Paths as TanStack Router writes them: `/projects/$name`. */
export const placesOfPages: readonly string[] = readdirSync(web, { recursive: true, encoding: 'utf8' })
  .filter((file) => /(^|[\\/])places\.tsx?$/.test(file) && !file.startsWith('dist'))
  .flatMap((file) => [...readFileSync(join(web, file), 'utf8').matchAll(/\bpath: '([^']+)'/g)])
  .map(([, path]) => path as string)
  .sort()

type Values = Readonly<Record<string, string | number>>
/** Values for `$name` in a path, by the beginning of the path and the parameter. The first entry that fits counts. */
const VALUES: readonly (readonly [prefix: string, values: (filled: Filled) => Values])[] = [
  ['/sources/webhooks/', ({ webhookId }) => ({ id: webhookId })],
  [
    '/sources/',
    ({ connectionId, scopeId, scopeConfigId }) => ({
      plugin: 'github',
      id: connectionId,
      connectionId,
      connection: connectionId,
      scopeId,
      scope: scopeId,
      scopeConfigId,
      configId: scopeConfigId,
      config: scopeConfigId,
    }),
  ],
  ['/dashboards/', () => ({ dashboard: 'dora' })],
  ['/shared/', ({ sharedToken }) => ({ token: sharedToken })],
  ['/runs/', ({ runId }) => ({ id: runId })],
  ['/traffic/', ({ switchId }) => ({ id: switchId })],
  [
    '/',
    ({ project, connectionId, scopeId, blueprintId }) => ({
      name: project,
      project,
      projectName: project,
      blueprintId,
      id: blueprintId,
      plugin: 'github',
      connectionId,
      scopeId,
      table: '_raw_github_api_issues',
    }),
  ],
]

/** The address of a page with content. */
export function addressOf(path: string, filled: Filled): string {
  const [, values] = VALUES.find(([prefix]) => path.startsWith(prefix)) ?? []
  return path.replace(/\$(\w+)/g, (_, name: string) => {
    const value = values?.(filled)[name]
    if (value === undefined) throw new Error(`tests/web/support/pages.ts knows no $${name} for ${path}: add it.`)
    return encodeURIComponent(value)
  })
}

/** The same values, with very unusual names. */
export const oddly = (filled: Filled): Filled => ({ ...filled, ...filled.odd })

/** Waits until the subject of the page is there and nothing is loading. */
export async function settled(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' })
  // Pages that ask again and again are never idle for long.
  await page.waitForLoadState('networkidle', { timeout: 5_000 }).catch(() => {})
}
