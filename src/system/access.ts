/** Tables for access to the API and the web page. */
import {
  bigint,
  defineTable,
  generated,
  indexed,
  json,
  key,
  required,
  sealed,
  string,
  text,
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

export const apiKeyRoles = defineTable(
  '_weir_api_key_roles',
  { api_key_id: key(bigint()), role: string(20), projects: json() },
  { meaning: 'What an API key may do, and in which projects; one without a row may do everything.' },
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

export const sessionOrigins = defineTable(
  '_weir_session_origins',
  {
    jti: key(string(36)),
    provider: string(),
    groups: json(),
    token_mark: string(64),
    expires_at: required(indexed(timestamp())),
  },
  { meaning: 'How a browser was signed in: by which provider with which groups, or by which access token.' },
)

export const usedSignIns = defineTable(
  '_weir_used_sign_ins',
  { state: key(string(100)), expires_at: required(indexed(timestamp())) },
  { meaning: 'Attempts to sign in with OpenID Connect that have ended, so that none is used twice.' },
)

export const auditEntries = defineTable(
  '_weir_audit_entries',
  {
    id: generated(key(bigint())),
    actor_id: indexed(string()),
    actor: string(),
    actor_email: string(),
    address: string(100),
    action: string(20),
    subject: indexed(string(100)),
    subject_key: string(),
    state_before: json(),
    state_after: json(),
    ...written,
  },
  {
    meaning: 'Who did what and when, with the values before and after; secrets are masked.',
    isAppendOnly: true,
  },
)

export const encryptionKeys = defineTable(
  '_weir_encryption_keys',
  {
    /** Always `current`. */
    id: key(string(20)),
    /** The fingerprint of the key that everything is encrypted with. */
    fingerprint: string(64),
    /** The fingerprint of the key that is about to replace it; empty when there is none. */
    next_fingerprint: string(64),
    /** The key of the digests, kept after the encryption key was replaced. Empty until then. */
    digest_key: sealed(text()),
    ...written,
  },
  { meaning: 'Which encryption key belongs to this database; not the key itself.' },
)
