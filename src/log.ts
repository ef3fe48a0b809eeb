import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { type DestinationStream, type Logger, pino } from 'pino'
import { hideAddressSecrets, isSecretName } from './address-secrets.ts'

export type { Logger } from 'pino'

const secrets = new Set<string>()

/** From now on this value is never written to the log, wherever it turns up. */
export function keepSecret(value: string): void {
  // A short value would blot out harmless text, and is no secret worth the name.
  if (value.length >= 6) secrets.add(value).add(JSON.stringify(value).slice(1, -1)).add(encodeURIComponent(value))
}

const HIDDEN = '[redacted]'

/** `"password": "…"`, and the same within a text, as in a body that was logged. */
const FIELDS = [
  /(?<!\\)("([\w-]{1,200})":\s*")([^"\\]*(?:\\.[^"\\]*)*)/gs,
  /(\\"([\w-]{1,200})\\":\s*\\")([^"\\]*(?:\\(?:\\\\"|[^"])[^"\\]*)*)/gs,
]
/** Words that follow are none: "basic authentication", "the token settings". */
const SIGNED =
  /\b(bearer|Bearer|BEARER|basic|Basic|token|Token)\s+(?=[a-z.-]*[\d_~+/=A-Z]|[a-z-]*\.\w|[a-z]{20})[\w.~+/=-]{8,}/g

/** What messages write to show the form of an address. */
const EXAMPLE = /^(?:user(?:name)?|pass(?:word|wd)?|token|secret|\*+)$/i
const hideSecret = (secret: string) => (EXAMPLE.test(secret) ? secret : HIDDEN)

/** The text without anything that looks like, or is known to be, a secret. */
export function redact(text: string): string {
  let clean = text
  for (const secret of secrets) clean = clean.replaceAll(secret, HIDDEN)
  clean = hideAddressSecrets(clean, hideSecret)
  for (const field of FIELDS) {
    clean = clean.replace(field, (all, start, name, value) => (value && isSecretName(name) ? start + HIDDEN : all))
  }
  return clean.replace(SIGNED, `$1 ${HIDDEN}`)
}

/** Of what could not be written yet. */
const MOST_HELD_BYTES = 16 << 20

/** Without a file it goes to standard error, so that the output of a command can be piped on. */
export function logDestination(file?: string): DestinationStream {
  if (file === undefined) return pino.destination({ dest: 2, sync: true })
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const destination = pino.destination({ dest: file, sync: true, mode: 0o600, maxLength: MOST_HELD_BYTES })
  // A disk that is full costs the lines that do not fit into memory. Without a listener the program would end with the first.
  destination.on('error', () => {})
  return destination
}

export type LogFormat = 'json' | 'text'

export function createLog(
  level: string,
  destination: DestinationStream = logDestination(),
  format: LogFormat = 'json',
): Logger {
  const streamWrite = format === 'json' ? redact : (line: string) => asText(redact(line))
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, hooks: { streamWrite } }, destination)
}

/** None where hiding a secret has broken it: then it is written as it is. */
function fieldsOf(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line)
  } catch {
    return {}
  }
}

/** A line for people: when, how bad, what, and the rest behind it. */
function asText(line: string): string {
  const { time, level, msg = '', ...rest } = fieldsOf(line)
  if (time === undefined) return line
  const label = pino.levels.labels[Number(level)] ?? String(level)
  const fields = Object.entries(rest).map(([name, value]) => ` ${name}=${JSON.stringify(value)}`)
  return `${time} ${label.toUpperCase().padEnd(5)} ${msg}${fields.join('')}\n`
}
