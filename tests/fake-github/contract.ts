import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { join } from 'node:path'

/** One operation of GitHub's REST description, reduced to the parts that requests are checked against. */
export interface Operation {
  readonly method: string
  readonly template: string
  readonly path: ReadonlyMap<string, ValueSchema>
  readonly query: ReadonlyMap<string, ValueSchema>
  readonly requiredQuery: readonly string[]
}
interface ValueSchema {
  readonly type?: string
  readonly format?: string
  readonly enum?: readonly unknown[]
}
export interface Match {
  readonly operation: Operation
  readonly parameters: Readonly<Record<string, string>>
}
/** A request that GitHub would refuse or not understand, or that the fake cannot answer. */
export interface Violation {
  readonly request: string
  readonly problem: string
}

interface Branch {
  readonly literals: Map<string, Branch>
  parameter?: Branch
  readonly operations: Map<string, Operation>
}

let routes: Branch | undefined

export function githubDescription(): any {
  const manifest = findPackageJSON('@octokit/openapi', import.meta.url)!
  return JSON.parse(readFileSync(join(manifest, '../generated/api.github.com.json'), 'utf8'))
}

/** Finds the operation in GitHub's description that a method and path belong to. Undefined if GitHub has none. */
export function matchOperation(method: string, path: string): Match | undefined {
  routes ??= loadRoutes()
  const segments = path.split('/').slice(1).map(decodeURIComponent)
  const operation = walk(routes, segments, 0, method)
  if (operation === undefined) return undefined
  const names = operation.template.split('/').slice(1)
  const pairs = names.flatMap((name, position) =>
    name.startsWith('{') ? [[name.slice(1, -1), segments[position]!] as const] : [],
  )
  return { operation, parameters: Object.fromEntries(pairs) }
}

function walk(branch: Branch, segments: readonly string[], depth: number, method: string): Operation | undefined {
  if (depth === segments.length) return branch.operations.get(method)
  const literal = branch.literals.get(segments[depth]!)
  const found = literal && walk(literal, segments, depth + 1, method)
  return (
    found ??
    (branch.parameter && segments[depth] !== '' ? walk(branch.parameter, segments, depth + 1, method) : undefined)
  )
}

/** Returns everything about a request's parameters that GitHub's description does not allow. */
export function checkParameters({ operation, parameters }: Match, query: URLSearchParams): string[] {
  const where = `${operation.method} ${operation.template}`
  const problems: string[] = []
  for (const [name, value] of Object.entries(parameters)) {
    const problem = valueProblem(operation.path.get(name), name, value)
    if (problem !== undefined) problems.push(`path parameter ${name} of ${where}: ${problem}`)
  }
  for (const name of new Set(query.keys())) {
    const schema = operation.query.get(name)
    if (schema === undefined) problems.push(`unknown query parameter "${name}" for ${where}`)
    else if (query.getAll(name).length > 1) problems.push(`query parameter "${name}" of ${where} is given twice`)
    else {
      const problem = valueProblem(schema, name, query.get(name)!)
      if (problem !== undefined) problems.push(`query parameter "${name}" of ${where}: ${problem}`)
    }
  }
  for (const name of operation.requiredQuery)
    if (!query.has(name)) problems.push(`query parameter "${name}" of ${where} is missing`)
  return problems
}

const DATE = String.raw`\d{4}-\d\d-\d\d`
const DATE_TIME = String.raw`${DATE}T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`
const DATE_TIME_ONLY = new RegExp(`^${DATE_TIME}$`)
const MOMENT = `(${DATE_TIME}|${DATE})`
// https://docs.github.com/search-github/getting-started-with-searching-on-github/understanding-the-search-syntax
const DATE_RANGE = new RegExp(`^((>|>=|<|<=)?${MOMENT}|${MOMENT}\\.\\.(${MOMENT}|\\*)|\\*\\.\\.${MOMENT})$`)

function valueProblem(schema: ValueSchema | undefined, name: string, value: string): string | undefined {
  // Described as a single date-time, but documented as a search range.
  if (name === 'created') return DATE_RANGE.test(value) ? undefined : `"${value}" is not a date range`
  if (schema?.enum !== undefined)
    return schema.enum.includes(value) ? undefined : `"${value}" is not one of ${schema.enum.join(', ')}`
  if (schema?.type === 'integer') {
    if (!/^\d+$/.test(value)) return `"${value}" is not an integer`
    if (name === 'per_page' && (Number(value) < 1 || Number(value) > 100)) return `${value} is not between 1 and 100`
    if (name === 'page' && Number(value) < 1) return `${value} is not a page number`
  }
  if (schema?.type === 'boolean' && value !== 'true' && value !== 'false') return `"${value}" is not a boolean`
  if (schema?.format === 'date-time' && !(DATE_TIME_ONLY.test(value) && !Number.isNaN(Date.parse(value))))
    return `"${value}" is not a date-time`
  return undefined
}

function loadRoutes(): Branch {
  const description = githubDescription()
  const resolve = (value: any): any =>
    value.$ref === undefined
      ? value
      : value.$ref
          .slice(2)
          .split('/')
          .reduce((part: any, key: string) => part[key], description)
  const root = newBranch()
  for (const [template, item] of Object.entries<any>(description.paths)) {
    // This path is described twice. The other one has {basehead}.
    if (template.includes('}...{')) continue
    for (const method of ['get', 'post', 'put', 'patch', 'delete']) {
      if (item[method] === undefined) continue
      const parameters = [...(item.parameters ?? []), ...(item[method].parameters ?? [])].map(resolve)
      const of = (place: string) => parameters.filter((parameter) => parameter.in === place)
      const schemas = (place: string) =>
        new Map(of(place).map(({ name, schema }): [string, ValueSchema] => [name, slim(resolve(schema))]))
      plant(root, {
        method: method.toUpperCase(),
        template,
        path: schemas('path'),
        query: schemas('query'),
        requiredQuery: of('query').flatMap(({ name, required }) => (required === true ? [name] : [])),
      })
    }
  }
  return root
}

/** Keeps only the checked parts, so that the rest of the 13 MB description can be freed. */
const slim = ({ type, format, enum: choices }: any): ValueSchema => ({ type, format, enum: choices })

const newBranch = (): Branch => ({ literals: new Map(), operations: new Map() })

function plant(root: Branch, operation: Operation): void {
  let branch = root
  for (const segment of operation.template.split('/').slice(1)) {
    if (segment.startsWith('{')) {
      branch.parameter ??= newBranch()
      branch = branch.parameter
    } else {
      const next = branch.literals.get(segment) ?? newBranch()
      branch.literals.set(segment, next)
      branch = next
    }
  }
  branch.operations.set(operation.method, operation)
}
