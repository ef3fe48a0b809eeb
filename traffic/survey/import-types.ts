/** The request, the sources and the result of an import. */
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
  /** Needed if AWS cannot be asked. */
  readonly vpcId?: string | undefined
  readonly actionName?: string | undefined
  readonly targetGroupName?: string | undefined
  readonly preset?: string | undefined
}

/** A question that only a person can decide, and the field that answers it. */
export interface ImportQuestion {
  readonly field: keyof ImportRequest
  readonly text: string
  readonly choices: readonly string[]
  /** A hint for each choice; empty if nothing is known. */
  readonly hints: readonly string[]
}

export interface Imported {
  /** Set only if nothing is left to ask and lint has no error. */
  readonly plan: RoutePlan | undefined
  readonly questions: readonly ImportQuestion[]
  readonly findings: readonly Finding[]
}

/** The part of a cluster that a plan is made of. */
export type ReadableCluster = Pick<Cluster, 'name' | 'ingress' | 'service' | 'endpoints' | 'sourceSecurityGroups'>

export interface ImportPlaces {
  readonly current: ReadableCluster
  readonly target: ReadableCluster
  /** Manifests are used instead of clusters, so whatever is missing is asked for. */
  readonly isPasted?: boolean
  openBalancer(region: string): Promise<Balancer>
}

export type Choose = <T>(
  field: keyof ImportRequest,
  text: string,
  among: readonly T[],
  say: (value: T) => string,
  /** Gives the hint for a choice, which is passed as it is worded. */
  hint?: (choice: string) => string,
) => T | undefined
