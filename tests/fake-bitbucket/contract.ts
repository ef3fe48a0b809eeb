/**
 * Routes of the fakes, typed with the paths and parameters of Atlassian's OpenAPI descriptions, which the package contains as
 * types. A route that the descriptions lack does not compile. A plugin request without a route is a violation, so plugins are
 * checked too.
 */
import type { paths as CloudPaths } from '@coderabbitai/bitbucket/cloud/openapi'
import type { paths as ServerPaths } from '@coderabbitai/bitbucket/server/openapi'
import type { Answer, Asked, Route } from './http.ts'

type Readable<Paths> = {
  [Path in keyof Paths & string]: Paths[Path] extends { readonly get: object } ? Path : never
}[keyof Paths & string]
type QueryOf<Paths, Path extends keyof Paths> = Paths[Path] extends {
  readonly get: { readonly parameters: { readonly query?: infer Query } }
}
  ? keyof NonNullable<Query> & string
  : never

export type CloudPath = Readable<CloudPaths>
export type ServerPath = Readable<ServerPaths>
/** https://developer.atlassian.com/cloud/bitbucket/rest/intro/ has these parameters for all lists. */
export type CloudQuery<Path extends CloudPath> =
  | QueryOf<CloudPaths, Path>
  | 'page'
  | 'pagelen'
  | 'q'
  | 'sort'
  | 'fields'
export type ServerQuery<Path extends ServerPath> = QueryOf<ServerPaths, Path> | 'start' | 'limit'

type Reply = (asked: Asked, ...parts: string[]) => Answer

/** Accepts paths with and without a slash at the end. */
const formOf = (path: string) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '([^/]+)')}/?$`)

export const cloudRoute = <Path extends CloudPath>(
  path: Path,
  parameters: readonly CloudQuery<Path>[],
  answer: Reply,
): Route => ({ form: formOf(path), parameters, answer })

/** `latest` means the newest version, and `1.0` all versions that have the same paths. */
export const serverRoute = <Path extends ServerPath & `/api/latest/${string}`>(
  path: Path,
  parameters: readonly ServerQuery<Path>[],
  answer: Reply,
): Route => ({ form: formOf(path.slice('/api/latest'.length)), parameters, answer })
