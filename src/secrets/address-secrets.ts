/** Finds secrets in texts by their form: by the names of fields, and by their places in addresses. */

/** Matched at the end of a name, singular or plural. So `tokenExpiresAt` and `author` do not count as secrets. */
const SECRET_NAME =
  /(?:passw(?:or)?d|pwd|passphrase|secret|token|credential|(?:api|private|secret|access|ssh|signing|encryption)[_-]?key|authori[sz]ation|cookie|signature|jwt)s?[_-]?\d{0,9}$/i
/** Names that are too short to mean a secret anywhere except in the parameters of an address. */
const SECRET_PARAMETER = /^(?:key|sig|sign|code|auth|pass|pat)$/i
/** Longer names do not occur in practice, and the pattern for the end of a name would start at each letter. */
const LONGEST_NAME = 200

export const isSecretName = (name: string): boolean => name.length <= LONGEST_NAME && SECRET_NAME.test(name)
export const isSecretParameter = (name: string): boolean => isSecretName(name) || SECRET_PARAMETER.test(name)

/** A character that ends an address in running text. */
const OUTSIDE = /[\s"'<>`\\]/g
const LONGEST_SCHEME = 40
const SCHEME = /[a-z][a-z0-9+.-]{0,39}$/i
/** Forms in which the user name of an address is a token: without a password, with a placeholder as password, or too long for a name. */
const TOKEN_AS_USER = [/^[^:]+:$/, /:x-[\w-]+$/, /^[\w~.-]{20,}:/]
/** In addresses with other schemes the user is never a token. */
const TAKES_TOKENS = /^(?:\w+\+)?https?$/i

/** Replaces the secrets in all addresses of a text: passwords, tokens before the @, and values of parameters. */
export function hideAddressSecrets(text: string, hide: (secret: string) => string): string {
  let clean = ''
  let done = 0
  for (let at = text.indexOf('://'); at >= 0; at = text.indexOf('://', Math.max(at + 3, done))) {
    const scheme = SCHEME.exec(text.slice(Math.max(done, at - LONGEST_SCHEME), at))?.[0]
    if (!scheme) continue
    const end = endOf(text, at + 3)
    clean += text.slice(done, at + 3) + hideIn(scheme, text.slice(at + 3, end), hide)
    done = end
  }
  return clean + text.slice(done)
}

/** Returns the secrets in the addresses of a text, both as written and decoded. */
export function addressSecrets(text: string): readonly string[] {
  const found = new Set<string>()
  hideAddressSecrets(text, (secret) => {
    found.add(secret).add(decoded(secret))
    return ''
  })
  return [...found]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export const hasAddressSecret = (text: string): boolean => addressSecrets(text).length > 0

function endOf(text: string, from: number): number {
  OUTSIDE.lastIndex = from
  return OUTSIDE.exec(text)?.index ?? text.length
}

function hideIn(scheme: string, rest: string, hide: (secret: string) => string): string {
  const authorityEnd = rest.search(/[/?#]/)
  const authority = authorityEnd < 0 ? rest : rest.slice(0, authorityEnd)
  const [path = '', ...queries] = rest.slice(authority.length).split('?')
  const shown = queries.map((query) =>
    query
      .split(/([&;#])/)
      .map(parameter)
      .join(''),
  )
  return [hideUser(scheme, authority, hide) + path, ...shown].join('?')

  function parameter(part: string): string {
    const equals = part.indexOf('=')
    if (equals < 0 || equals === part.length - 1 || !isSecretParameter(part.slice(0, equals))) return part
    return part.slice(0, equals + 1) + hide(part.slice(equals + 1))
  }
}

function hideUser(scheme: string, authority: string, hide: (secret: string) => string): string {
  // The last @ counts, because a password may contain others that are not escaped.
  const at = authority.lastIndexOf('@')
  if (at <= 0) return authority
  const [user = '', ...rest] = authority.slice(0, at).split(':')
  const password = rest.join(':')
  const isToken = TAKES_TOKENS.test(scheme) && TOKEN_AS_USER.some((form) => form.test(`${user}:${password}`))
  const shown = [isToken && user ? hide(user) : user, password ? hide(password) : password]
  return shown.slice(0, rest.length > 0 ? 2 : 1).join(':') + authority.slice(at)
}

/** Removes password and secret parameters from an address, and for HTTP the user. Any other text is returned unchanged. */
export function bareAddress(text: string): string {
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) && hasAddressSecret(text) ? URL.parse(text) : null
  if (!url) return text
  url.password = ''
  if (TAKES_TOKENS.test(url.protocol.slice(0, -1))) url.username = ''
  for (const name of new Set(url.searchParams.keys())) if (isSecretParameter(name)) url.searchParams.delete(name)
  return url.href
}

/** The same for all texts in a value of any depth. */
export function withBareAddresses<Value>(value: Value): Value {
  if (typeof value === 'string') return bareAddress(value) as Value
  if (Array.isArray(value)) return value.map(withBareAddresses) as Value
  if (value === null || typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withBareAddresses(each)])) as Value
}

const SCP_STYLE = /^(?:[\w.-]+@)?([\w.-]+):(?!\/\/)\S+$/

/** The server of an address as scheme, host and port. Undefined for any other text. */
export function serverOf(address: unknown): string | undefined {
  if (typeof address !== 'string') return undefined
  const url = address.includes('://') ? URL.parse(address) : null
  if (url) return url.host && `${url.protocol}//${url.host}`.toLowerCase()
  const host = SCP_STYLE.exec(address)?.[1]
  return host && `ssh://${host}`.toLowerCase()
}
