/** Users enter addresses. None of them may lead to a place where a machine gets its own credentials. */
import { type LookupAddress, type LookupOptions, lookup } from 'node:dns'
import { lookup as resolve } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import { byName } from '../../basics/by-name.ts'
import { readConfig } from '../../config/config.ts'
import { UserError } from '../../errors.ts'
import { embeddedIn, plainAddress } from './ip-address.ts'

/** Link-local networks, and the metadata services of clouds. */
const BLOCKED = [
  '169.254.0.0/16',
  'fe80::/10',
  'fd00:ec2::254/128', // Amazon
  'fd20:ce::254/128', // Google
  '100.100.100.200/32', // Alibaba
  '168.63.129.16/32', // Azure
  '192.0.0.192/32', // Oracle
]

function listOf(ranges: readonly string[], variable: string): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', prefix] = range.split('/')
    const version = isIP(address)
    const longest = version === 6 ? 128 : 32
    const length = prefix === undefined ? longest : Number(prefix)
    if (version === 0 || !(length >= 0 && length <= longest)) {
      throw new UserError(`${variable} is wrong: ${range} is not a network such as 10.0.0.0/8.`)
    }
    list.addSubnet(address, length, version === 6 ? 'ipv6' : 'ipv4')
  }
  return list
}

interface Lists {
  readonly allowed: BlockList
  readonly blocked: BlockList
}
let known: Lists | undefined
function lists(): Lists {
  if (known) return known
  const { endpointBlocked, endpointAllowed } = readConfig(process.env)
  known = {
    allowed: listOf(endpointAllowed, 'ENDPOINT_CIDR_ALLOWED'),
    blocked: listOf([...BLOCKED, ...endpointBlocked], 'ENDPOINT_CIDR_BLACKLIST'),
  }
  return known
}

/** The "any" addresses lead to this machine. */
const MEANT: Readonly<Record<string, string>> = byName({ '0.0.0.0': '127.0.0.1', '::': '::1' })

/** Checks the address in its normal spelling, and every IPv4 address that it stands for. If one is blocked, so is the address. */
function isBlocked(address: string): boolean {
  const { allowed, blocked } = lists()
  return [plainAddress(address), ...embeddedIn(address)].some((each) => {
    const meant = MEANT[each] ?? each
    const family = isIP(meant) === 6 ? 'ipv6' : 'ipv4'
    return blocked.check(meant, family) && !allowed.check(meant, family)
  })
}

/** Thrown for a blocked address, which is never contacted. */
export class ClosedAddress extends UserError {}

const refusal = (host: string) =>
  new ClosedAddress(
    `${host} leads to a blocked address: choose another endpoint, or add its network to ENDPOINT_CIDR_ALLOWED.`,
  )

const plainHost = (host: string) => host.replace(/^\[|\]$/g, '')

export function requireOpenAddress(url: URL): void {
  const host = plainHost(url.hostname)
  if (isIP(host) && isBlocked(host)) throw refusal(host)
}

/** The addresses that a host leads to now; throws if one of them is blocked. Empty for a name that does not resolve here. */
export async function openAddresses(host: string): Promise<readonly string[]> {
  const found = await resolve(plainHost(host), { all: true }).catch(() => [])
  if (found.some(({ address }) => isBlocked(address))) throw refusal(plainHost(host))
  return found.map(({ address }) => address)
}

/**
 * For programs that connect with curl: `host:port:address,…`, so that the name leads to the addresses that were checked.
 * Undefined for an address, and for a name that does not resolve here.
 */
export async function curlPin(address: string): Promise<string | undefined> {
  const { hostname, port, protocol } = new URL(address)
  const found = await openAddresses(hostname)
  if (found.length === 0 || isIP(plainHost(hostname))) return undefined
  const standard = protocol === 'https:' ? '443' : protocol === 'http:' ? '80' : '1080'
  return `${hostname}:${port || standard}:${found.map((each) => (each.includes(':') ? `[${each}]` : each)).join(',')}`
}

/** Checks an endpoint when settings are saved. A name that does not resolve yet is checked again when it is used. */
export async function requireOpenEndpoint(endpoint: string): Promise<void> {
  const host = URL.parse(endpoint)?.hostname
  if (host) await openAddresses(host)
}

type Found = (error: Error | null, address: string | LookupAddress[], family?: number) => void

/** Replaces the name lookup of a connection, so that a name cannot lead elsewhere after the check. */
export function guardedLookup(host: string, options: LookupOptions, found: Found): void {
  lookup(host, { ...options, all: true }, (error, addresses) => {
    if (error) return found(error, [])
    if (addresses.some(({ address }) => isBlocked(address))) return found(refusal(host), [])
    const [first] = addresses
    if (options.all || !first) found(null, addresses)
    else found(null, first.address, first.family)
  })
}
