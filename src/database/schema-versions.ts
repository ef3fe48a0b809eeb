/**
 * Every version of the schema since 5: the hash of all tables and migrations at that time. Append only, by `npm run schema-version`:
 * a program refuses a database whose version is not in its own list. After a merge of two branches that both added one, run it again.
 */
export const FIRST_LISTED = 5

export const HASHES: readonly string[] = `
dbb35b84cc55fc0bb2345f64e6b58b8c35dae12eec3cedc3268103f42b1e4f63
085f7d1e60543e53945a90c1953cd44b53b0db1673d2aa32b1e53511f17b14af
`
  .trim()
  .split('\n')
