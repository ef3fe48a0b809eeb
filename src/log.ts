import { type DestinationStream, type Logger, pino } from 'pino'

export type { Logger } from 'pino'

const secrets = new Set<string>()

/** From now on this value is never written to the log, wherever it turns up. */
export function keepSecret(value: string): void {
  // A short value would blot out harmless text, and is no secret worth the name.
  if (value.length >= 6) secrets.add(value).add(JSON.stringify(value).slice(1, -1)).add(encodeURIComponent(value))
}

const HIDDEN = '[redacted]'

const PATTERNS: readonly [RegExp, string][] = [
  // "password": "…" at any depth, escaped or not, as in a body that was logged as text
  [
    /(\\?"[\w-]*(?:password|passwd|passphrase|secret|token|api[_-]?key|private[_-]?key|authorization|cookie)[\w-]*\\?":\s*\\?")((?:[^"\\]|\\[^"])*)/gi,
    `$1${HIDDEN}`,
  ],
  [/([a-z][a-z0-9+.-]*:\/\/[^\s:/@"]*:)[^\s@"]+(?=@)/gi, `$1${HIDDEN}`],
  [/\b(bearer|basic|token)\s+[\w.~+/=-]{8,}/gi, `$1 ${HIDDEN}`],
  [/([?&](?:access_token|private_token|token|api_key|key|secret|password|sign)=)[^&\s"]+/gi, `$1${HIDDEN}`],
]

/** The text without anything that looks like, or is known to be, a secret. */
export function redact(text: string): string {
  let clean = text
  for (const secret of secrets) clean = clean.replaceAll(secret, HIDDEN)
  for (const [pattern, replacement] of PATTERNS) clean = clean.replace(pattern, replacement)
  return clean
}

/** Writes to standard error, so that the output of a command can be piped on. */
export function createLog(
  level: string,
  destination: DestinationStream = pino.destination({ dest: 2, sync: true }),
): Logger {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, hooks: { streamWrite: redact } },
    destination,
  )
}
