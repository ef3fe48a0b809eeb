/** Chooses the names of variables for secrets in an export: those of the file that they came from, or names made from their places. */
import { maskSecrets, type Secrets } from '../secrets/secrets.ts'
import type { Path } from './config-file.ts'
import { type KnownTemplates, markOf } from './stored-templates.ts'
import { isSetting, namesIn, referenceTo, type Template, withoutReferences } from './variables.ts'

/** A value that is written unchanged, even if it looks like a variable. */
class Written {
  readonly value: unknown
  constructor({ text, isObject }: Template) {
    this.value = isObject ? { env: namesIn(text)[0] } : text
  }
}

export interface VariableNames {
  /** Returns the value with variables in place of its secrets, and in place of everything that came from variables. */
  hidden(path: Path, value: unknown, isSecret: boolean): unknown
  /** Prepares the whole file: escapes texts that look like variables but are none. */
  written(content: unknown): unknown
}

export function variableNames({ at, uses }: KnownTemplates, secrets: Secrets): VariableNames {
  const taken = new Set(uses.keys())
  function newName(path: Path): string {
    const parts = path[0] === 'connections' ? path.slice(1) : path
    const name = parts
      .join('_')
      .toUpperCase()
      .replace(/[^A-Z0-9]+/g, '_')
      .replace(/^(?=\d)/, '_')
    let count = 1
    const numbered = () => (count === 1 ? name : `${name}_${count}`)
    while (taken.has(numbered())) count++
    taken.add(numbered())
    return numbered()
  }
  function textOf(path: Path, value: unknown, isSecret: boolean): unknown {
    const stored = at(path)
    if (stored) {
      const isAsApplied = stored.mark === markOf(value, secrets)
      // The secret has changed. Its variable can get the new value only if it is used in no other place.
      const isAlone = namesIn(stored.text).every((name) => uses.get(name) === 1)
      if (isAsApplied || (isSecret && isAlone)) return new Written(stored)
    }
    return isSecret ? new Written({ text: referenceTo(newName(path)), isObject: isSetting(path) }) : value
  }
  return {
    hidden(path, value, isSecret) {
      const walk = (place: Path, each: unknown, name: string): unknown => {
        if (Array.isArray(each)) return each.map((item, index) => walk([...place, index], item, name))
        if (each !== null && typeof each === 'object' && !(each instanceof Date)) {
          return Object.fromEntries(Object.entries(each).map(([key, item]) => [key, walk([...place, key], item, key)]))
        }
        const hides = typeof each === 'string' && (maskSecrets(each, name) !== each || (isSecret && each !== ''))
        return textOf(place, each, hides)
      }
      return walk(path, value, String(path.at(-1)))
    },
    written(content) {
      const walk = (each: unknown): unknown => {
        if (typeof each === 'string') return withoutReferences(each)
        if (each instanceof Written) return each.value
        if (Array.isArray(each)) return each.map(walk)
        if (each === null || typeof each !== 'object' || each instanceof Date) return each
        return Object.fromEntries(Object.entries(each).map(([key, item]) => [key, walk(item)]))
      }
      return walk(content)
    },
  }
}

/** Tells whether an export names the secret at a place by this variable. */
export function isNamedBy(templates: KnownTemplates, secrets: Secrets, path: Path, value: unknown, name: string) {
  const written = variableNames(templates, secrets).hidden(path, value, true)
  if (!(written instanceof Written)) return false
  const { value: reference } = written
  return reference === referenceTo(name) || (reference as { readonly env?: unknown } | null)?.env === name
}
