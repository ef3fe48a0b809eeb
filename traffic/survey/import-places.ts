import { TrafficError } from '../model/finding.ts'
import { openBalancer } from '../vendors/balancer.ts'
import { openCluster } from '../vendors/cluster.ts'
import type { ImportPlaces, ImportRequest } from './import-types.ts'
import { type Manifest, manifestsIn, pastedCluster } from './pasted-cluster.ts'

interface Pasted {
  readonly current?: string | undefined
  readonly target?: string | undefined
}

/**
 * Takes both clusters by their contexts, or both by their manifests. With one of each, live state would be compared with text
 * that may not match it.
 */
export async function importPlaces(
  { currentContext, targetContext }: Pick<ImportRequest, 'currentContext' | 'targetContext'>,
  { current, target }: Pasted,
  read: (cluster: string, text: string) => readonly Manifest[] | Promise<readonly Manifest[]> = manifestsIn,
): Promise<ImportPlaces> {
  if ((current === undefined) !== (target === undefined))
    throw new TrafficError('invalid', 'Give the manifests of both clusters, or of none: then their contexts are asked.')
  if (current !== undefined && target !== undefined)
    return {
      current: pastedCluster(currentContext, await read(currentContext, current)),
      target: pastedCluster(targetContext, await read(targetContext, target)),
      isPasted: true,
      openBalancer,
    }
  const [currentCluster, targetCluster] = await Promise.all([
    openCluster(currentContext, currentContext),
    openCluster(targetContext, targetContext),
  ])
  return { current: currentCluster, target: targetCluster, openBalancer }
}
