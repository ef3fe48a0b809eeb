/** Plans and task options are stored encrypted: users may put passwords into addresses in them. */
import { maskSecrets, type Secrets } from '../secrets.ts'
import type { Plan } from './records.ts'

export const sealJson = (value: unknown, { encrypt }: Secrets): string => encrypt(JSON.stringify(value))
export const openJson = (stored: string | Buffer | null, { decrypt }: Secrets): any =>
  stored?.length ? JSON.parse(decrypt(String(stored))) : null

/** For answers. */
export const shownPlan = (stored: string | Buffer | null, secrets: Secrets): Plan | null =>
  maskSecrets(openJson(stored, secrets))
