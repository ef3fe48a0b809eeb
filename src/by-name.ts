/**
 * A table that is asked by names from outside. It has no prototype: asked for `constructor` or `toString` it has nothing,
 * and `__proto__` is a name like any other. `npm test` refuses plain objects in its place.
 */
export const byName = <Value>(entries: Readonly<Record<string, Value>> = {}): Record<string, Value> =>
  Object.assign(Object.create(null), entries)
