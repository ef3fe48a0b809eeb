import { updateRows } from '../control-plane/store.ts'
import type { Database } from '../database/database.ts'
import { CURRENT } from '../secrets/encryption-key.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { encryptionKeys } from '../system/access.ts'
import { oldDigestKey } from './old-key.ts'

/** API keys are stored as digests. Those of DevLake stay valid, because new ones are made in the same way. */
export const useOldDigests = ({ kysely }: Database, { encrypt }: Secrets, secret: string): Promise<number> =>
  updateRows(kysely, encryptionKeys, CURRENT, { digest_key: encrypt(oldDigestKey(secret)) })
