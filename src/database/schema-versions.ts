/**
 * Every version of the schema since 5: the hash of all tables and migrations at that time. Append only, by `npm run schema-version`:
 * a program refuses a database whose version is not in its own list. After a merge of two branches that both added one, run it again.
 */
export const FIRST_LISTED = 5

export const HASHES: readonly string[] = `
dc49c421a73087b3eb394f09052b5a6ac658c320194263fee909ebf36e517e31
f0a0a0f33f4e74cee6d5302884ef14f826fb932e600a20f71badc2bae9e9e837
d821f5baf251ce7a1c2a7a5ce9417e7ac362b8ba112b713bc46cd7ed11878e39
`
  .trim()
  .split('\n')
