import { type Finding, finding } from '../model/finding.ts'
import { placeKey, sameBackend } from '../model/ingress.ts'
import { backendsOf, type Ingress } from '../model/manifests.ts'
import { describeValue } from '../model/names.ts'
import type { Plan } from '../model/plan.ts'
import { routesOf } from '../model/routes.ts'

/** Finds mistakes in a plan about the repository through which the clusters are changed. */
export function lintGitOps(plan: Plan): readonly Finding[] {
  const { mode, gitops, cleanup } = plan
  if (mode === 'gitops' && gitops === undefined)
    return [finding('TS-O01', 'gitops', 'mode gitops needs the section gitops')]
  if (gitops === undefined) return []
  const findings: Finding[] = []
  if (mode !== 'gitops')
    findings.push(finding('TS-O01', 'gitops', `the section has no meaning in mode ${mode}`, 'warning'))
  if (cleanup.currentIngress === 'delete-ingress' && gitops.current.form !== 'manifest')
    findings.push(
      finding(
        'TS-O03',
        'cleanup.currentIngress',
        `delete-ingress needs form manifest; the Ingress of form ${gitops.current.form} belongs to its base or chart`,
      ),
    )
  if (gitops.proposalBranch === gitops.branch)
    findings.push(finding('TS-O02', 'gitops.proposalBranch', 'is the branch that the clusters follow'))
  const { current, target } = gitops
  const isOneFile =
    current.path === target.path &&
    (current.repository ?? gitops.repository) === (target.repository ?? gitops.repository) &&
    (current.branch ?? gitops.branch) === (target.branch ?? gitops.branch)
  if (isOneFile)
    findings.push(finding('TS-O02', 'gitops.target.path', 'both clusters would be described by the same files'))
  return [...findings, ...lintValues(plan)]
}

/** One key of the values holds one action or one binding: a second route would replace the first. */
function lintValues(plan: Plan): readonly Finding[] {
  const [first, second] = routesOf(plan)
  if (second === undefined) return []
  return (['current', 'target'] as const).flatMap((side) => {
    const { form, key } = plan.gitops![side]
    if (form !== 'helm') return []
    const both = `routes ${first!.route?.name} and ${second.route?.name}`
    return [finding('TS-O05', `gitops.${side}.key`, `${key} has room for one route, but ${both} would both use it`)]
  })
}

/** Changes that are not applied yet, or were made past the repository, would be overwritten by the first commit. */
export function lintBranch(
  path: string,
  inBranch: Ingress | undefined,
  live: Ingress,
  where: string,
): readonly Finding[] {
  if (inBranch === undefined) return [finding('TS-O04', path, `there is no Ingress ${live.metadata.name} in ${where}`)]
  const places = new Map(backendsOf(inBranch).map((placed) => [placeKey(inBranch, placed), placed.backend]))
  return backendsOf(live).flatMap((placed) => {
    const place = placeKey(live, placed)
    const backend = places.get(place)
    if (backend !== undefined && sameBackend(backend, placed.backend)) return []
    const got = `the cluster has ${describeValue(placed.backend.service)} at ${place}`
    return [finding('TS-O04', path, `${got}, ${where} ${describeValue(backend?.service)}`)]
  })
}
