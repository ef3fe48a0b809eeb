/** Who may use the API and the web page. */
import {
  bigint,
  defineTable,
  generated,
  indexed,
  key,
  required,
  string,
  timestamp,
  written,
  zeroTime,
} from '../database/table.ts'

export const apiKeys = defineTable(
  '_devlake_api_keys',
  {
    id: generated(key(bigint())),
    creator: string(),
    creator_email: string(),
    updater: string(),
    updater_email: string(),
    name: string(),
    api_key: string(),
    expired_at: timestamp(),
    allowed_path: string(),
    type: string(40),
    extra: string(),
    ...written,
  },
  { meaning: 'A key for the API, stored as a hash, with the paths it opens.' },
)

export const authSessions = defineTable(
  'auth_sessions',
  {
    jti: key(string(36)),
    sub: indexed(string()),
    email: string(),
    name: string(),
    issued_at: required(timestamp()),
    expires_at: required(indexed(timestamp())),
    revoked_at: indexed(timestamp()),
    last_seen_at: zeroTime(timestamp()),
  },
  { meaning: 'A signed-in browser, kept so that it can be signed out.' },
)
