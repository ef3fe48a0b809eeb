import { parseDatabaseId, parseNodeId } from './ids.ts'
import { generatePeople, type People } from './people.ts'
import { type Collections, generateRepository, type Repository } from './repository.ts'
import { type WorldOptions, type WorldSettings, worldSettings } from './settings.ts'

/** The world of the fake GitHub. Two worlds with equal options are equal, so a test may build its own for comparison. */
export interface World {
  readonly settings: WorldSettings
  readonly people: People
  /** Repositories that are not deleted. */
  readonly repositories: readonly Repository[]
  /** Finds a repository by its present name `owner/name`. */
  find(name: string): Repository | undefined
  findById(id: number): Repository | undefined
  /** Finds a repository by a former name. */
  findRenamed(name: string): Repository | undefined
  /** Returns a repository by its present name. Throws if there is none. */
  repository(name: string): Repository
  /** The number of records of each kind in a repository. */
  totals(name: string): Record<keyof Collections, number>
  /** Finds the record of a global node id, with its repository. */
  findNode(nodeId: string): { kind: string; repository: Repository; index: number } | undefined
}

export function createWorld(options: WorldOptions = {}): World {
  const settings = worldSettings(options)
  const people = generatePeople(settings)
  const all = settings.repositories.map((each, ordinal) => generateRepository(each, ordinal, people, settings))
  const present = (): Repository[] => all.filter((repository) => !repository.isGone)
  const find = (name: string) =>
    present().find((repository) => `${repository.owner}/${repository.name}`.toLowerCase() === name.toLowerCase())
  const repository = (name: string): Repository => {
    const found = find(name)
    if (found === undefined) throw new Error(`the fake GitHub has no repository ${name}`)
    return found
  }
  return {
    settings,
    people,
    get repositories() {
      return present()
    },
    find,
    findById: (id) => present().find((each) => each.id === id),
    findRenamed: (name) =>
      present().find((each) => each.formerNames.some((former) => former.toLowerCase() === name.toLowerCase())),
    repository,
    totals(name) {
      const found = repository(name)
      const kinds = Object.keys(found).filter((key) => isCollection(found[key as keyof Repository]))
      return Object.fromEntries(kinds.map((kind) => [kind, found[kind as keyof Collections].size])) as never
    },
    findNode(text) {
      const { kind, value } = parseNodeId(text)
      const place = kind === undefined ? undefined : parseDatabaseId(kind, Number(value))
      const owner = place === undefined ? undefined : all[place.repository]
      return kind === undefined || place === undefined || owner === undefined || owner.isGone
        ? undefined
        : { kind, repository: owner, index: place.index }
    },
  }
}

const isCollection = (value: unknown): boolean => typeof value === 'object' && value !== null && 'childrenOf' in value
