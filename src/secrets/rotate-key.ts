/**
 * Replaces the encryption key. First the database notes that a rotation is under way, then every ciphertext is encrypted
 * again, then the new key becomes the key of the database. An interrupted rotation can continue: a ciphertext that the new key
 * opens is done.
 */

import { updateRows } from '../control-plane/store.ts'
import type { Database } from '../database/database.ts'
import { knowing } from '../database/kysely.ts'
import { UserError } from '../errors.ts'
import { findLiving } from '../runner/servers.ts'
import { encryptionKeys } from '../system/access.ts'
import {
  CURRENT,
  KEY_LOCK,
  type KeyPlace,
  makeKeyFile,
  nextKeyFile,
  opens,
  openWith,
  promoteKeyFile,
  readKeyFile,
  type StoredKey,
  storedKey,
} from './encryption-key.ts'
import { createSecrets, type Secrets } from './secrets.ts'
import { ciphertextsOf, type SealedColumn, type StoredCiphertext, sealedColumns } from './stored-ciphertexts.ts'

interface Rotation {
  readonly encrypted: number
  /** The number of ciphertexts that neither key opens. They are left as they are. */
  readonly unreadable: number
}

const AT_ONCE = 200

/** `newSecret` is for installations that keep the key in ENCRYPTION_SECRET. Without it a new key file is made. */
export const rotateKey = (database: Database, place: KeyPlace, newSecret?: string): Promise<Rotation> =>
  database.locked(KEY_LOCK, async () => {
    const stored = await storedKey(database)
    if (!stored) throw new UserError('This database has no encryption key yet: start the server once.')
    if (place.encryptionSecret && !newSecret) {
      throw new UserError('The key is in ENCRYPTION_SECRET: set NEW_ENCRYPTION_SECRET to the new key.')
    }
    if (isDone(stored, place, newSecret)) return { encrypted: 0, unreadable: 0 }
    const old = openWith(stored, place)
    const key = newSecret ?? (readKeyFile(nextKeyFile(place)) ?? makeKeyFile(nextKeyFile(place))).key
    const next = createSecrets(key, old.digestKey)
    if (next.fingerprint === stored.fingerprint) throw new UserError('This is already the key: choose another.')
    if (stored.next_fingerprint !== '' && stored.next_fingerprint !== next.fingerprint) {
      throw new UserError(
        'A rotation to another key was started and not finished: use the same NEW_ENCRYPTION_SECRET, or the same data folder, again.',
      )
    }
    const note = (values: Record<string, string>) => updateRows(database.kysely, encryptionKeys, CURRENT, values)
    // From now on no server can start. A server that started before is found below.
    await note({ next_fingerprint: next.fingerprint })
    const living = await findLiving(database)
    if (living > 0) {
      if (stored.next_fingerprint === '') await note({ next_fingerprint: '' })
      throw new UserError(
        `Running servers of this database: ${living}. Stop all of them, rotate the key, then start them again.`,
      )
    }
    const rotation = await encryptAnew(database, old, next)
    await note({ fingerprint: next.fingerprint, next_fingerprint: '', digest_key: next.encrypt(old.digestKey) })
    if (!newSecret) promoteKeyFile(place)
    return rotation
  })

/** True when an earlier rotation finished but was killed right after, or its result was not seen. Running it again does nothing. */
function isDone({ fingerprint, next_fingerprint }: StoredKey, { encryptionSecret }: KeyPlace, newSecret?: string) {
  const isKey = (key: string | undefined) => key !== undefined && createSecrets(key).fingerprint === fingerprint
  return next_fingerprint === '' && isKey(newSecret) && !isKey(encryptionSecret)
}

async function encryptAnew(database: Database, old: Secrets, next: Secrets): Promise<Rotation> {
  let encrypted = 0
  let unreadable = 0
  for (const sealed of sealedColumns) {
    let changes: StoredCiphertext[] = []
    const save = async () => {
      await saveAll(database, sealed, changes)
      encrypted += changes.length
      changes = []
    }
    for await (const { ciphertext, key } of ciphertextsOf(database, sealed)) {
      if (opens(next, ciphertext)) continue
      if (opens(old, ciphertext)) changes.push({ key, ciphertext: next.encrypt(old.decrypt(ciphertext)) })
      else unreadable++
      if (changes.length === AT_ONCE) await save()
    }
    await save()
  }
  return { encrypted, unreadable }
}

const saveAll = (database: Database, { table, column }: SealedColumn, changes: readonly StoredCiphertext[]) =>
  database.transaction(async ({ kysely }) => {
    for (const { key, ciphertext } of changes) {
      let update = knowing(kysely, table)
        .updateTable(table.name)
        .set({ [column]: ciphertext })
      for (const [name, value] of Object.entries(key)) update = update.where(name, '=', value)
      await update.execute()
    }
  })

/** Called after this process has registered as a server, because a rotation that began meanwhile did not see it. */
export async function requireSameKey(database: Database, { fingerprint }: Secrets): Promise<void> {
  const stored = await storedKey(database)
  if (stored?.fingerprint === fingerprint && stored.next_fingerprint === '') return
  throw new UserError('The encryption key was replaced while this started: start again.')
}
