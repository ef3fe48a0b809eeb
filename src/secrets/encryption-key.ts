/** Finds the encryption key and checks that it is the one that this database was set up with. */
import { randomBytes } from 'node:crypto'
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { findRow, insertRow, updateRows } from '../control-plane/store.ts'
import type { Database } from '../database/database.ts'
import type { RowOf } from '../database/table.ts'
import { UserError } from '../errors.ts'
import { findLiving } from '../runner/servers.ts'
import { encryptionKeys } from '../system/access.ts'
import { makePrivate, readPrivate } from './private-file.ts'
import { createSecrets, type Secrets } from './secrets.ts'
import { ciphertextsOf, sealedColumns } from './stored-ciphertexts.ts'

/** ENCRYPTION_SECRET takes precedence over the file in the data folder. */
export interface KeyPlace {
  readonly dataFolder: string
  readonly encryptionSecret?: string | undefined
}
interface FoundKey {
  readonly key: string
  readonly origin: string
}
export type StoredKey = RowOf<typeof encryptionKeys>

export const CURRENT = { id: 'current' } as const
export const KEY_LOCK = 'encryption key'
const SHORTEST_KEY = 16

export const keyFile = ({ dataFolder }: KeyPlace): string => join(dataFolder, 'encryption-key')
/** The file of a new key during a rotation, until it becomes the current one. */
export const nextKeyFile = (place: KeyPlace): string => `${keyFile(place)}.next`
const oldKeyFile = (place: KeyPlace) => `${keyFile(place)}.old`

export function findKey(place: KeyPlace): FoundKey | undefined {
  if (place.encryptionSecret) return { key: place.encryptionSecret, origin: 'in ENCRYPTION_SECRET' }
  return readKeyFile(keyFile(place))
}

export function readKeyFile(file: string): FoundKey | undefined {
  const key = readPrivate(file)
  if (key === undefined) return undefined
  if (key.length >= SHORTEST_KEY) return { key, origin: `in ${file}` }
  throw new UserError(`${file} holds no key: restore it from a backup, or set ENCRYPTION_SECRET.`)
}

export const makeKeyFile = (file: string): FoundKey => ({
  key: makePrivate(file, randomBytes(32).toString('hex')),
  origin: `in ${file}`,
})

export const storedKey = ({ kysely }: Pick<Database, 'kysely'>): Promise<StoredKey | undefined> =>
  findRow(kysely, encryptionKeys, CURRENT)

/** Opens the secrets with the key of this database, and refuses any other key. A new key is made only if nothing was ever encrypted. */
export async function openSecrets(database: Database, place: KeyPlace): Promise<Secrets> {
  const stored = await storedKey(database)
  if (stored) return secretsFor(stored, place)
  // When two servers start at once on a new database, one makes the key, and the other is checked against it.
  return database.locked(KEY_LOCK, async () => {
    const meanwhile = await storedKey(database)
    if (meanwhile) return secretsFor(meanwhile, place)
    const found = findKey(place)
    await requireOpens(database, found, place)
    const secrets = createSecrets((found ?? makeKeyFile(keyFile(place))).key)
    await insertRow(database.kysely, encryptionKeys, { ...CURRENT, fingerprint: secrets.fingerprint })
    return secrets
  })
}

/** How many ciphertexts must fail before the key counts as wrong: one row may be damaged for another reason. */
const SAMPLES = 20

/** Checks databases that were made before fingerprints were stored: the key must decrypt what is encrypted in them. */
async function requireOpens(database: Database, found: FoundKey | undefined, place: KeyPlace): Promise<void> {
  let count = 0
  for (const sealed of sealedColumns) {
    for await (const { ciphertext } of ciphertextsOf(database, sealed)) {
      if (!found) throw missing(place)
      if (opens(createSecrets(found.key), ciphertext)) return
      if (++count === SAMPLES) throw wrong(found, place)
    }
  }
  if (found && count > 0) throw wrong(found, place)
}

export function opens({ decrypt }: Secrets, ciphertext: string): boolean {
  try {
    decrypt(ciphertext)
    return true
  } catch {
    return false
  }
}

function secretsFor(stored: StoredKey, place: KeyPlace): Secrets {
  if (stored.next_fingerprint !== '') {
    throw new UserError(
      'The encryption key of this database is being replaced, and this was not finished: run `npx weir secrets rotate` again, then start.',
    )
  }
  return openWith(stored, place)
}

export function openWith(stored: StoredKey, place: KeyPlace): Secrets {
  const found = findKey(place)
  if (found && fits(found, stored)) return withDigests(found.key, stored)
  const next = place.encryptionSecret ? undefined : readKeyFile(nextKeyFile(place))
  if (next && fits(next, stored)) {
    // A rotation was killed after its last step in the database, before the key file was renamed.
    promoteKeyFile(place)
    return withDigests(next.key, stored)
  }
  throw found ? wrong(found, place) : missing(place)
}

const fits = ({ key }: FoundKey, { fingerprint }: StoredKey) => createSecrets(key).fingerprint === fingerprint

function withDigests(key: string, { digest_key }: StoredKey): Secrets {
  const secrets = createSecrets(key)
  return digest_key === '' ? secrets : createSecrets(key, secrets.decrypt(digest_key))
}

/** Makes the new key file the current one. The old file is kept, because earlier backups of the database need it. */
export function promoteKeyFile(place: KeyPlace): void {
  if (readPrivate(keyFile(place)) !== undefined) renameSync(keyFile(place), oldKeyFile(place))
  renameSync(nextKeyFile(place), keyFile(place))
}

/** Accepts the present key as the key of the database. Data that was encrypted with another key stays unreadable. */
export async function acceptKey(database: Database, place: KeyPlace): Promise<Secrets> {
  const secrets = createSecrets((findKey(place) ?? makeKeyFile(keyFile(place))).key)
  const values = { fingerprint: secrets.fingerprint, next_fingerprint: '', digest_key: '' }
  if ((await findLiving(database)) > 0) throw new UserError('Servers of this database are running: stop them first.')
  await database.locked(KEY_LOCK, async () => {
    const changed = await updateRows(database.kysely, encryptionKeys, CURRENT, values)
    if (changed === 0) await insertRow(database.kysely, encryptionKeys, { ...CURRENT, ...values })
  })
  return secrets
}

const LOST =
  'If it is lost, `npx weir secrets accept-key` continues with a new one; then enter tokens and passwords again.'

const missing = (place: KeyPlace) =>
  new UserError(
    `The encryption key of this database is not here: copy the file encryption-key from the data folder that it was used with to ${keyFile(place)}, or set ENCRYPTION_SECRET to the value it was used with. ${LOST}`,
  )
const wrong = ({ origin }: FoundKey, place: KeyPlace) =>
  new UserError(
    `The encryption key ${origin} is not the one that this database was set up with: put back the right one, in ${keyFile(place)} or as ENCRYPTION_SECRET. ${LOST}`,
  )
