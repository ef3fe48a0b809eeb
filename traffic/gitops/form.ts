import { TrafficError } from '../model/finding.ts'
import type { GitSide } from '../model/gitops.ts'
import type { IngressEdit } from '../model/ingress.ts'
import type { Ingress } from '../model/manifests.ts'
import type { Applicable } from '../vendors/cluster.ts'
import type { Changes, Tree } from './repository.ts'
import type { ObjectName } from './yaml-file.ts'

/** A way in which a repository describes the objects of a cluster. */
export interface Form {
  /** Annotations of the Ingress as far as the branch has them; undefined if the Ingress is not there. */
  annotations(tree: Tree, ingress: ObjectName): Promise<Readonly<Record<string, unknown>> | undefined>
  /** The whole Ingress, if the branch has it. */
  ingress(tree: Tree, ingress: ObjectName): Promise<Ingress | undefined>
  /** The changes that give the branch the edit; none if it has the edit already. */
  change(tree: Tree, live: Ingress, edit: IngressEdit, overridesDrift: boolean): Promise<Changes>
  /** Writes the object as it is given, in the place of one of the same name. */
  put(tree: Tree, object: Applicable): Promise<Changes>
  remove(tree: Tree, object: ObjectName): Promise<Changes>
}

export interface FormSettings extends GitSide {
  /** Name of the plan, used to name what Weir adds. */
  readonly name: string
  /** Branch and repository, for messages. */
  readonly where: string
}

export const nameOf = ({ kind, metadata }: Pick<Applicable, 'kind' | 'metadata'>): ObjectName => ({
  kind,
  name: metadata.name,
  namespace: metadata.namespace,
})

export const missingObject = ({ path, where }: FormSettings, { kind, name, namespace }: ObjectName): TrafficError =>
  new TrafficError(
    'conflict',
    `There is no ${kind} ${namespace}/${name} in ${path} of ${where}. Nothing was committed. Correct the path in gitops, or put the manifest there.`,
  )
