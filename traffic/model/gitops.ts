import { z } from 'zod'
import { describeValue } from './names.ts'

const told =
  (expected: string, shown: (value: unknown) => unknown = (value) => value) =>
  (issue: { input?: unknown }): string =>
    `TS-O02 got ${describeValue(shown(issue.input))}; ${expected}`

const checked = (
  isRight: (text: string) => boolean,
  longest: number,
  expected: string,
  shown?: (value: unknown) => unknown,
) => {
  const error = told(expected, shown)
  return z.string({ error }).min(1, { error }).max(longest, { error }).refine(isRight, { error })
}

/** Accepts paths within the repository, but not git's own folder. */
const isPath = (text: string): boolean =>
  text.split('/').every((part) => part !== '' && part !== '.' && part !== '..' && part.toLowerCase() !== '.git') &&
  /^[\w@+=,. /-]+$/.test(text)
const path = checked(isPath, 1024, 'expected a path within the repository, such as clusters/blue/shop')

const isBranch = (text: string): boolean =>
  /^[A-Za-z0-9][\w./-]*$/.test(text) &&
  text.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock')) &&
  !text.includes('..') &&
  !text.endsWith('.')
const branch = checked(isBranch, 200, 'expected the name of a branch, such as main')

/** Removes whatever may be a password, because a refused value is shown in logs and terminals. */
function withoutLogin(value: unknown): unknown {
  if (typeof value !== 'string' || !value.includes('@')) return value
  const scheme = value.indexOf('://')
  return `${scheme === -1 ? '' : value.slice(0, scheme + 3)}…${value.slice(value.lastIndexOf('@'))}`
}

/** A plan is stored and shown, so its repository address must not contain a password. */
const isRepository = (text: string): boolean => {
  // Programs do not agree on where the host ends in such an address.
  if (/[\s\\]/.test(text)) return false
  if (/^[\w.-]+@[\w.-]+:[^\s:]+$/.test(text) || text.startsWith('/')) return true
  const url = URL.parse(text)
  return url !== null && /^(?:https?|ssh|file):$/.test(url.protocol) && !hasLogin(text)
}
/** Tells whether an address contains a password or, with http, a user name. */
export const hasLogin = (text: string): boolean => {
  const url = URL.parse(text)
  return url !== null && (url.password !== '' || isLogin(url))
}
const isLogin = ({ protocol, username }: URL): boolean => protocol.startsWith('http') && username !== ''
const repository = checked(
  isRepository,
  1000,
  'expected https://host/path, ssh://git@host/path or git@host:path, without a password',
  withoutLogin,
)

/** The place that describes the objects of one cluster. */
const sideSchema = z.strictObject({
  /** `manifest`: YAML files; `kustomize`: a folder that gets a patch; `helm`: a file of values. */
  form: z.enum(['manifest', 'kustomize', 'helm']).default('manifest'),
  /** A file or folder; for `kustomize` the folder of the kustomization, for `helm` the file of values. */
  path,
  /** `manifest`: the file for the binding. Default: beside the Ingress. */
  bindingPath: path.optional(),
  /** `helm`: the place within the values. */
  key: z
    .string()
    .max(200)
    .regex(/^\w+(?:\.\w+)*$/, { error: told('expected names with dots between them, such as trafficSwitch') })
    .default('trafficSwitch'),
  /** Set if this cluster has a separate repository or branch. */
  repository: repository.optional(),
  branch: branch.optional(),
})

const seconds = (standard: number) => z.int().min(0).max(604_800).default(standard)

export const gitOpsSchema = z.strictObject({
  repository,
  /** The branch that Argo CD or Flux follows. */
  branch: branch.default('main'),
  /** `push`: commits go to the branch. `wait`: they go to a separate branch, and somebody merges it. */
  merge: z.enum(['push', 'wait']).default('push'),
  /** Default: weir/ and the name of the plan. */
  proposalBranch: branch.optional(),
  mergeTimeoutSeconds: seconds(3600),
  /** The time between the change on the branch and the moment when the cluster shows it. */
  syncTimeoutSeconds: seconds(600),
  /** `skip`: a rollback is pushed to the branch itself, and has to be merged only if that is refused. */
  rollbackMerge: z.enum(['skip', 'wait']).default('skip'),
  rollbackMergeSeconds: seconds(120),
  author: z
    .strictObject({ name: z.string().min(1).max(100), email: z.string().min(1).max(200) })
    .refine(({ name, email }) => !/[<>\n]/.test(name + email), { error: told('expected a name and an address') })
    .default({ name: 'Weir', email: 'weir@localhost' }),
  current: sideSchema,
  target: sideSchema,
})

export type GitOpsSettings = z.infer<typeof gitOpsSchema>
export type GitSide = z.infer<typeof sideSchema>
