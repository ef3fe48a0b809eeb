/** Plans and manifests with a value of any kind in any place give findings and never a crash. */
import { expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { lintText } from '../../traffic/lint/text.ts'
import { diffManifests } from '../../traffic/render/diff.ts'
import { manifestsOf, renderPhase } from '../../traffic/render/render.ts'
import { SHOP_YAML, shopPlan } from './support/shop.ts'

const FEW: readonly unknown[] = [{ toString: 1, valueOf: 1 }, null, 'constructor']
const MORE: readonly unknown[] = [[[]], [null], 5, true, '', '__proto__', '{"type":"constructor"}']
const ODD = process.env.FULL_SIZE === 'true' ? [...FEW, ...MORE] : FEW

/** Yields the value with each of its parts in turn replaced by `odd`, and its names replaced by those of a prototype. */
function* withOdd(value: unknown, odd: unknown): Generator<unknown> {
  yield odd
  if (value === null || typeof value !== 'object') return
  for (const [name, each] of Object.entries(value)) {
    for (const changed of withOdd(each, odd)) {
      yield Array.isArray(value)
        ? value.map((item, index) => (String(index) === name ? changed : item))
        : { ...value, [name]: changed }
    }
    if (!Array.isArray(value)) yield { ...value, [typeof odd === 'string' ? odd : 'toString']: each }
  }
}

test.each(ODD)('a plan with %j in each place', (odd) => {
  for (const plan of withOdd(parse(SHOP_YAML), odd)) {
    expect(Array.isArray(lintText(JSON.stringify(plan), ''))).toBe(true)
  }
})

test.each(ODD)('manifests with %j in each place', (odd) => {
  const { current, target } = manifestsOf(renderPhase(shopPlan(), 'step-1'))
  const objects = parseAllDocuments(`${current}\n---\n${target}`).map((document) => document.toJS())
  const before = objects.map((object) => JSON.stringify(object)).join('\n---\n')
  for (const object of objects) {
    for (const changed of withOdd(object, odd)) {
      const after = JSON.stringify(changed)
      expect(Array.isArray(lintText(after, before))).toBe(true)
      expect(Array.isArray(diffManifests(before, after))).toBe(true)
    }
  }
})
