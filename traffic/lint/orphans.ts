import { ANNOTATION_PREFIX } from '../model/action.ts'
import { type Finding, finding } from '../model/finding.ts'
import { backendsOf, type Ingress } from '../model/manifests.ts'

const KINDS = ['conditions', 'transforms']

/** Conditions and transforms for a name that no backend has take no effect. */
export function lintOrphans(ingress: Ingress): readonly Finding[] {
  const used = new Set(backendsOf(ingress).map(({ backend }) => backend.service?.name))
  return Object.keys(ingress.metadata.annotations ?? {}).flatMap((key) => {
    const kind = KINDS.find((each) => key.startsWith(`${ANNOTATION_PREFIX}${each}.`))
    const name = kind && key.slice(`${ANNOTATION_PREFIX}${kind}.`.length)
    return !name || used.has(name)
      ? []
      : [
          finding(
            'TS-A06',
            `metadata.annotations["${key}"]`,
            `no backend is named ${name}, so its ${kind} hold for nothing`,
            'warning',
          ),
        ]
  })
}
