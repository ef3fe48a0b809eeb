import type { ControllerFacts } from '../vendors/cluster-facts.ts'

/** Before this version, a rule could not name a group by ARN beside a Service, nor share one between clusters. */
const LEAST = [2, 12] as const

/** The version in the tag of an image, such as `v2.13.4`; undefined if there is none, as with a digest. */
export function versionOf(image: string): readonly [number, number] | undefined {
  const found = /:v?(\d{1,5})\.(\d{1,5})/.exec(image.slice(image.lastIndexOf('/') + 1))
  return found === null ? undefined : [Number(found[1]), Number(found[2])]
}

/** Problems of a controller that stand in the way of a switch; `unsure` if its version cannot be told. */
export function judgeController(facts: ControllerFacts): {
  readonly problems: readonly string[]
  readonly unsure: boolean
} {
  const problems: string[] = []
  const version = versionOf(facts.image)
  const isOld = version !== undefined && (version[0] < LEAST[0] || (version[0] === LEAST[0] && version[1] < LEAST[1]))
  if (isOld) problems.push(`it is ${version.join('.')}, and ${LEAST.join('.')} or later is needed`)
  if (featuresOf(facts).get('WeightedTargetGroups') === 'false')
    problems.push('the feature gate WeightedTargetGroups is switched off')
  if (!facts.isReady) problems.push('none of its replicas is ready')
  return { problems, unsure: version === undefined }
}

export function featuresOf({ arguments: given }: ControllerFacts): ReadonlyMap<string, string> {
  const text = given.find((each) => each.startsWith('--feature-gates='))?.slice('--feature-gates='.length) ?? ''
  return new Map(
    text
      .split(',')
      .filter((pair) => pair.includes('='))
      .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  )
}
