/** Patterns of the names that Kubernetes, the AWS Load Balancer Controller and ELBv2 accept. */
export const DNS_LABEL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/
/** In the journal, the name of a route follows that of an effect. */
export const ROUTE_NAME = /^[a-z0-9](?:[-a-z0-9]{0,30}[a-z0-9])?$/
export const SERVICE_NAME = /^[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?$/
/** `actions.<name>` is the name part of an annotation key, at most 63 characters. */
export const ACTION_NAME = /^[a-z](?:[-a-z0-9]{0,53}[a-z0-9])?$/
/** Shorter than Kubernetes allows: the name becomes part of a pod condition type. */
export const BINDING_NAME = /^(?=.{1,63}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/
export const GROUP_NAME = /^(?=.{1,63}$)(?:[a-z0-9][-a-z0-9.]*)?[a-z0-9]$/
export const PORT_NAME = /^(?=.{1,15}$)(?=.*[a-z])(?!.*--)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/
export const TARGET_GROUP_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,30}[A-Za-z0-9])?$/
export const VPC_ID = /^vpc-(?:[0-9a-f]{8}|[0-9a-f]{17}|[0-9a-f]{32})$/
export const SECURITY_GROUP_ID = /^sg-(?:[0-9a-f]{8}|[0-9a-f]{17})$/
export const HOST_NAME =
  /^(?=.{1,253}$)(?:\*\.)?[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)+$/
export const HOSTED_ZONE_ID = /^[A-Z0-9]{1,32}$/
export const REGION = /^[a-z]{2,5}(?:-[a-z]+)+-\d{1,2}$/

const ARN =
  /^arn:(aws[a-z-]*):elasticloadbalancing:([a-z0-9-]+):(\d{12}):targetgroup\/([A-Za-z0-9](?:[A-Za-z0-9-]{0,30}[A-Za-z0-9])?)\/([0-9a-f]{16})$/

interface TargetGroupArn {
  readonly partition: string
  readonly region: string
  readonly accountId: string
  readonly name: string
}

export function parseTargetGroupArn(text: string): TargetGroupArn | undefined {
  const match = ARN.exec(text)
  return match === null ? undefined : { partition: match[1]!, region: match[2]!, accountId: match[3]!, name: match[4]! }
}

export const isPort = (value: unknown): value is number | string =>
  typeof value === 'number'
    ? Number.isInteger(value) && value >= 1 && value <= 65535
    : typeof value === 'string' && (/^\d+$/.test(value) ? isPort(Number(value)) : PORT_NAME.test(value))

const LONGEST_SHOWN = 200
/** The form of a value in messages: text in quotes, so that "90" and 90 can be told apart. */
export function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing'
  try {
    return brief(JSON.stringify(typeof value === 'string' ? brief(value) : value))
  } catch {
    return 'something nested very deeply'
  }
}
export const brief = (text: string): string => (text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text)

/** For values that nobody has checked yet: an object may have a property `toString` that is no function. */
export const textOf = (value: unknown): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)
