import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { type DestinationStream, type Logger, pino } from 'pino'
import { hideAddressSecrets, isSecretName } from './secrets/address-secrets.ts'

export type { Logger } from 'pino'

const secrets = new Set<string>()

/** Registers a value that must never be written to the log from now on. */
export function keepSecret(value: string): void {
  // Hiding a short value would also remove harmless text, and so short a value is hardly a secret.
  if (value.length >= 6) secrets.add(value).add(JSON.stringify(value).slice(1, -1)).add(encodeURIComponent(value))
}

const HIDDEN = '[redacted]'

/** Matches `"password": "…"`, also within a JSON text, such as a body that was logged. */
const FIELDS = [
  /(?<!\\)("([\w-]{1,200})":\s*")([^"\\]*(?:\\.[^"\\]*)*)/gs,
  /(\\"([\w-]{1,200})\\":\s*\\")([^"\\]*(?:\\(?:\\\\"|[^"])[^"\\]*)*)/gs,
]
/**
 * Matches an authentication scheme with its credential, but not ordinary words such as "basic authentication" or "the token
 * settings".
 */
const SIGNED =
  /\b(bearer|Bearer|BEARER|basic|Basic|token|Token)\s+(?=[a-z.-]*[\d_~+/=A-Z]|[a-z-]*\.\w|[a-z]{20})[\w.~+/=-]{8,}/g

/** Placeholders that messages use to show the form of an address. */
const EXAMPLE = /^(?:user(?:name)?|pass(?:word|wd)?|token|secret|\*+)$/i
const hideSecret = (secret: string) => (EXAMPLE.test(secret) ? secret : HIDDEN)

/** Removes everything that looks like a secret or is registered as one. */
export function redact(text: string): string {
  let clean = text
  for (const secret of secrets) clean = clean.replaceAll(secret, HIDDEN)
  clean = hideAddressSecrets(clean, hideSecret)
  for (const field of FIELDS) {
    clean = clean.replace(field, (all, start, name, value) => (value && isSecretName(name) ? start + HIDDEN : all))
  }
  return clean.replace(SIGNED, `$1 ${HIDDEN}`)
}

/** The most bytes kept in memory while they cannot be written. */
const MOST_HELD_BYTES = 16 << 20

/** Without a file the log goes to standard error, so that the output of a command can be piped. */
export function logDestination(file?: string): DestinationStream {
  if (file === undefined) return pino.destination({ dest: 2, sync: true })
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const destination = pino.destination({ dest: file, sync: true, mode: 0o600, maxLength: MOST_HELD_BYTES })
  // When the disk is full, lines that do not fit into memory are lost. Without this listener the first such error would end the program.
  destination.on('error', () => {})
  return destination
}

type LogFormat = 'json' | 'text'

export function createLog(
  level: string,
  destination: DestinationStream = logDestination(),
  format: LogFormat = 'json',
): Logger {
  const streamWrite = format === 'json' ? redact : (line: string) => asText(redact(line))
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, hooks: { streamWrite } }, destination)
}

/** Parses a line. Empty when hiding a secret has broken the JSON; the line is then written unchanged. */
function fieldsOf(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line)
  } catch {
    return {}
  }
}

/** Formats a line for people: time, level, message, then the other fields. */
function asText(line: string): string {
  const { time, level, msg = '', ...rest } = fieldsOf(line)
  if (time === undefined) return line
  const label = pino.levels.labels[Number(level)] ?? String(level)
  const fields = Object.entries(rest).map(([name, value]) => ` ${name}=${JSON.stringify(value)}`)
  return `${time} ${label.toUpperCase().padEnd(5)} ${msg}${fields.join('')}\n`
}
