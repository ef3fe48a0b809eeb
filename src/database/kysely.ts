import type { Kysely } from 'kysely'

/** Tables are declared in many folders, and queries name them by text: Kysely is told none of their types. */
// biome-ignore lint/suspicious/noExplicitAny: as above
export type AnySchema = any
export type AnyKysely = Kysely<AnySchema>
