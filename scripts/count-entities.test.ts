import { expect, it } from 'vitest'
import { plugins } from '../src/plugins/index.ts'
import { countEntities, MOST_LINES, meanOf } from './count-entities.ts'

it('an entity takes few lines, over all plugins', () => {
  const counted = countEntities()
  const withEntities = plugins.filter(({ source, pushSource }) => (source && !source.settingsOf) || pushSource)
  expect(counted.map(({ plugin }) => plugin)).toEqual(withEntities.map(({ name }) => name).sort())
  for (const { entities, lines } of counted) expect(Math.min(entities, lines)).toBeGreaterThan(0)
  expect(meanOf(counted)).toBeLessThanOrEqual(MOST_LINES)
})
