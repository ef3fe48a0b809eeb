import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'

/** The rules about colours that are on by default. */
const OF_COLOUR = ['color-contrast', 'link-in-text-block']

/** Returns the findings of axe-core on a page, light and dark. `settled` waits until the page has its final state. */
export async function problemsOfAccess(page: Page, settled = async () => {}): Promise<string[]> {
  const found: string[] = []
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.locator(`[data-mantine-color-scheme="${colorScheme}"]`).waitFor()
    await settled()
    const rules = new AxeBuilder({ page })
    // The dark page differs from the light one only by its colours.
    const { violations } = await (colorScheme === 'dark' ? rules.withRules(OF_COLOUR) : rules).analyze()
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
    for (const { id, nodes } of serious)
      found.push(...nodes.map(({ html }) => `${colorScheme}: ${id}: ${html.slice(0, 200)}`))
  }
  return found
}
