/** What an import is asked, what it needs, and what it answers. */
import type { Finding } from '../model/finding.ts'
import type { RoutePlan } from '../model/plan.ts'
import type { Balancer } from '../vendors/balancer.ts'
import type { Cluster } from '../vendors/cluster.ts'

export interface ImportRequest {
  readonly project: string
  readonly currentContext: string
  readonly targetContext: string
  readonly namespace: string
  readonly ingress: string
  readonly name?: string | undefined
  readonly targetNamespace?: string | undefined
  readonly targetIngress?: string | undefined
  readonly createTargetIngress?: boolean | undefined
  readonly service?: string | undefined
  readonly port?: string | undefined
  readonly host?: string | undefined
  readonly path?: string | undefined
  readonly targetService?: string | undefined
  readonly targetPort?: string | undefined
  readonly containerPort?: number | undefined
  readonly sourceSecurityGroup?: string | undefined
  readonly region?: string | undefined
  /** Where AWS cannot be asked. */
  readonly vpcId?: string | undefined
  readonly actionName?: string | undefined
  readonly targetGroupName?: string | undefined
  readonly preset?: string | undefined
}

/** What only a person can decide, and the field that answers it. */
export interface ImportQuestion {
  readonly field: keyof ImportRequest
  readonly text: string
  readonly choices: readonly string[]
  /** What is known of each choice; empty where nothing is. */
  readonly hints: readonly string[]
}

export interface Imported {
  /** Only when nothing is left to ask and lint has no error. */
  readonly plan: RoutePlan | undefined
  readonly questions: readonly ImportQuestion[]
  readonly findings: readonly Finding[]
}

/** As much of a cluster as a plan is made of. */
export type ReadableCluster = Pick<Cluster, 'name' | 'ingress' | 'service' | 'endpoints' | 'sourceSecurityGroups'>

export interface ImportPlaces {
  readonly current: ReadableCluster
  readonly target: ReadableCluster
  /** Manifests instead of clusters: what is missing is asked. */
  readonly isPasted?: boolean
  openBalancer(region: string): Promise<Balancer>
}

export type Choose = <T>(
  field: keyof ImportRequest,
  text: string,
  among: readonly T[],
  say: (value: T) => string,
  /** Of a choice, as it is said. */
  hint?: (choice: string) => string,
) => T | undefined
