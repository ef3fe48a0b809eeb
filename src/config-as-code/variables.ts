/** `${NAME}` in a file means a variable of the environment, and `$${` means the two characters themselves. */
import { requireCleanText } from '../basics/clean-text.ts'
import { messageOf } from '../errors.ts'
import { maskSecrets } from '../secrets/secrets.ts'
import type { ConfigFile, Path } from './config-file.ts'

export type Environment = Readonly<Record<string, string | undefined>>

const REFERENCE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

export const referenceTo = (name: string): string => `\${${name}}`
export const withoutReferences = (text: string): string => text.replaceAll('${', () => '$${')
const filled = (template: string, valueFor: (name: string) => string): string =>
  template.replace(REFERENCE, (_all, name: string | undefined) => (name === undefined ? '${' : valueFor(name)))
export const namesIn = (template: string): string[] =>
  [...template.matchAll(REFERENCE)].flatMap(([, name]) => name ?? [])

export interface Template {
  readonly text: string
  /** Written as `{ env: NAME }`, which is allowed only for fields of connections. */
  readonly isObject: boolean
}
/** Texts with references to variables, by their place. */
export interface Templates {
  readonly at: (path: Path) => Template | undefined
  /** Returns the texts below a place, by their path from there. */
  readonly below: (path: Path) => readonly (readonly [path: Path, template: Template])[]
}

/** A field of a connection whose variable is not set. It is left out if the server already has its value. */
export interface UnsetVariable {
  readonly path: Path
  readonly name: string
  readonly template: Template
}
export const unsetRefusal = (file: ConfigFile, path: Path, name: string) =>
  file.refusal(path, `${path.at(-1)} comes from ${name}, which is not set: set it in the environment.`)

interface Filled {
  readonly content: unknown
  readonly templates: Templates
  readonly unset: readonly UnsetVariable[]
}

/** Fills the variables into the content of a file. */
export function fillVariables(file: ConfigFile, environment: Environment): Filled {
  const templates = new Map<string, readonly [path: Path, template: Template]>()
  const unset: UnsetVariable[] = []
  const givenFor = (name: string) => (Object.hasOwn(environment, name) ? environment[name] : undefined) || undefined
  const fill = (path: Path, template: string, isObject = false): string | undefined => {
    const [name, ...others] = namesIn(template)
    if (name !== undefined) templates.set(JSON.stringify(path), [path, { text: template, isObject }])
    const isWhole = name !== undefined && others.length === 0 && template === referenceTo(name)
    if (isWhole && isSetting(path) && givenFor(name) === undefined) {
      unset.push({ path, name, template: { text: template, isObject } })
      return undefined
    }
    const text = filled(template, (each) => {
      const value = givenFor(each)
      if (value === undefined) throw unsetRefusal(file, path, each)
      return value
    })
    requireStorable(file, path, text)
    return text
  }
  const walk = (path: Path, value: unknown): unknown => {
    if (typeof value === 'string') return fill(path, value)
    if (Array.isArray(value)) return value.map((each, index) => walk([...path, index], each))
    if (value === null || typeof value !== 'object' || value instanceof Date) return value
    const name = isSetting(path) ? environmentName(value) : undefined
    if (name !== undefined) return fill(path, referenceTo(name), true)
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, each]) => {
        requireStorable(file, [...path, key], key)
        const found = walk([...path, key], each)
        return found === undefined ? [] : [[key, found]]
      }),
    )
  }
  const content = walk([], file.content)
  return {
    content,
    unset,
    templates: {
      at: (path) => templates.get(JSON.stringify(path))?.[1],
      below: (path) =>
        [...templates.values()]
          .filter(([place]) => path.every((part, index) => place[index] === part))
          .map(([place, template]) => [place.slice(path.length), template]),
    },
  }
}

/** True for fields of a connection, which may also be written as `{ env: NAME }`. */
export const isSetting = (path: Path) => path.length === 4 && path[0] === 'connections'
function environmentName(value: object): string | undefined {
  const { env, ...rest } = value as { env?: unknown }
  return typeof env === 'string' && NAME.test(env) && Object.keys(rest).length === 0 ? env : undefined
}

function requireStorable(file: ConfigFile, path: Path, text: string): void {
  if (text === '__proto__') throw file.refusal(path, 'this name cannot be used: choose another.')
  try {
    requireCleanText(text, String(path.at(-1)))
  } catch (error) {
    throw file.refusal(path, messageOf(error))
  }
}

/** Refuses secrets in the file: without its variables, a value must contain nothing that has to be masked. */
export function requireHidden(
  file: ConfigFile,
  templates: Templates,
  path: Path,
  value: unknown,
  name = String(path.at(-1)),
): void {
  if (typeof value === 'string' || typeof value === 'number') {
    const template = templates.at(path)?.text ?? withoutReferences(String(value))
    // The missing part of an address gets a placeholder, because without it the other parts would have another meaning.
    const visible = filled(template, () => (template.includes('://') ? '****' : ''))
    if (maskSecrets(visible, name) === visible) return
    const named = /^\$\{?(\w+)\}?$/.exec(visible)?.[1] ?? 'NAME'
    throw file.refusal(
      path,
      `${path.at(-1)} is a secret. Write it as \${${named}} and set ${named} in the environment.`,
    )
  }
  if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) requireHidden(file, templates, [...path, index], each, name)
  } else if (value !== null && typeof value === 'object' && !(value instanceof Date)) {
    for (const [key, each] of Object.entries(value)) requireHidden(file, templates, [...path, key], each, key)
  }
}
