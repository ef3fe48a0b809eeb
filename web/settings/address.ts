export interface KeySearch {
  readonly create?: true
}
export interface AlertSearch {
  readonly create?: true
  /** The alert that is open in the form. */
  readonly edit?: number
}
export interface GroupSearch {
  readonly create?: true
  /** The group that is open in the form. */
  readonly group?: string
}
export interface AuditSearch {
  readonly action?: string
  readonly actorId?: string
  readonly subject?: string
  readonly subjectKey?: string
  readonly page?: number
  /** The entry that is open. */
  readonly entry?: number
}
export interface StorageSearch {
  readonly by?: 'scope'
}

/** A number above 0, or undefined. */
export const number = (value: unknown) => (Number(value) > 0 ? Number(value) : undefined)
export const filled = <Search extends object>(search: Search): Search =>
  Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as Search
