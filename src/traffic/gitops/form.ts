import { TrafficError } from '../model/finding.ts'
import type { GitSide } from '../model/gitops.ts'
import type { IngressEdit } from '../model/ingress.ts'
import type { Ingress } from '../model/manifests.ts'
import type { Applicable } from '../vendors/cluster.ts'
import type { Changes, Tree } from './repository.ts'
import type { ObjectName } from './yaml-file.ts'

/** How a repository describes the objects of a cluster. */
export interface Form {
  /** Annotations of the Ingress as far as the branch has them; undefined: the Ingress is not there. */
  annotations(tree: Tree, ingress: ObjectName): Promise<Readonly<Record<string, unknown>> | undefined>
  /** The whole Ingress, where the branch has it. */
  ingress(tree: Tree, ingress: ObjectName): Promise<Ingress | undefined>
  /** What has to be written so that the branch has the edit; nothing when it has. */
  change(tree: Tree, live: Ingress, edit: IngressEdit, overridesDrift: boolean): Promise<Changes>
  /** The object as it is given, in the place of one of its name. */
  put(tree: Tree, object: Applicable): Promise<Changes>
  remove(tree: Tree, object: ObjectName): Promise<Changes>
}

export interface FormSettings extends GitSide {
  /** Name of the plan: it names what we add. */
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
