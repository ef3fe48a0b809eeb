/** Normalises the spelling of IP addresses, and finds the IPv4 addresses for which some IPv6 addresses stand. */
import { isIPv4, isIPv6 } from 'node:net'

/** The eight groups of an IPv6 address; undefined for anything else. A zone (`%eth0`) is ignored: it only names the network card. */
export function groupsOf(address: string): readonly number[] | undefined {
  const [bare = ''] = address.split('%')
  if (!isIPv6(bare)) return undefined
  const spelled = new URL(`http://[${bare}]`).hostname.slice(1, -1)
  const [head = '', tail] = spelled.split('::')
  const numbers = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)))
  const [before, after] = [numbers(head), numbers(tail ?? '')]
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after]
}

const ipv4Of = (high = 0, low = 0): string => [high >> 8, high & 255, low >> 8, low & 255].join('.')

const startsWith = (groups: readonly number[], ...start: readonly number[]) =>
  start.every((group, index) => groups[index] === group)

/**
 * The IPv4 addresses to which a machine on the way may send traffic for an IPv6 address: mapped, compatible and translated
 * addresses, NAT64 (RFC 6052, RFC 8215), 6to4 (RFC 3056) and Teredo (RFC 4380).
 */
export function embeddedIn(address: string): readonly string[] {
  const groups = groupsOf(address)
  if (!groups) return []
  const [, first, second, , , , high = 0, low = 0] = groups
  if (startsWith(groups, 0x2002)) return [ipv4Of(first, second)]
  if (startsWith(groups, 0x2001, 0)) return [ipv4Of(high ^ 0xffff, low ^ 0xffff)]
  const isLast =
    startsWith(groups, 0x64, 0xff9b) ||
    startsWith(groups, 0, 0, 0, 0, 0xffff, 0) ||
    (startsWith(groups, 0, 0, 0, 0, 0) && (groups[5] === 0xffff || groups[5] === 0))
  // `::` and `::1` do not stand for IPv4 addresses.
  const isOwn = startsWith(groups, 0, 0, 0, 0, 0, 0, 0) && low <= 1
  return isLast && !isOwn ? [ipv4Of(high, low)] : []
}

/** The form in which addresses are compared and counted: without a zone, and as IPv4 if mapped. */
export function plainAddress(address: string): string {
  const groups = groupsOf(address)
  if (!groups) return isIPv4(address) ? address : (address.split('%')[0] as string)
  if (startsWith(groups, 0, 0, 0, 0, 0, 0xffff)) return ipv4Of(groups[6], groups[7])
  return new URL(`http://[${address.split('%')[0]}]`).hostname.slice(1, -1)
}
