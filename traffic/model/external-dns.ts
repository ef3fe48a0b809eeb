/** The records with which external-dns marks the records that it owns. */
import type { ResourceRecordSet } from '@aws-sdk/client-route-53'

const HERITAGE = 'heritage=external-dns'
const TYPES = ['a', 'aaaa', 'cname']
const TEMPLATE = '%{record_type}'

interface Affixes {
  readonly txtPrefix: string
  readonly txtSuffix: string
}

/** The names of external-dns's TXT records for a host name: with the record's type in the name or, in older releases, without. */
export function registryNames(hostname: string, { txtPrefix, txtSuffix }: Affixes): readonly string[] {
  const dot = hostname.indexOf('.')
  const [label, rest] = [hostname.slice(0, dot), hostname.slice(dot)]
  const isTemplate = `${txtPrefix}${txtSuffix}`.includes(TEMPLATE)
  const nameOf = (type: string, inside: string): string =>
    `${txtPrefix.replaceAll(TEMPLATE, type)}${inside}${label}${txtSuffix.replaceAll(TEMPLATE, type)}${rest}`
  const typed = TYPES.map((type) => nameOf(type, isTemplate ? '' : `${type}-`))
  return isTemplate ? typed : [nameOf('', ''), ...typed]
}

export interface Owner {
  /** The name of the TXT record. */
  readonly record: string
  readonly id: string
  /** The object for which it made the record, such as `ingress/shop/web`. */
  readonly resource: string
}

/** The owners that claim, in these TXT records, to have made the host name's record. */
export function ownersIn(records: readonly ResourceRecordSet[]): readonly Owner[] {
  return records
    .filter(({ Type }) => Type === 'TXT')
    .flatMap(({ Name, ResourceRecords = [] }) =>
      ResourceRecords.map(({ Value }) => Value!.replaceAll('"', '').split(','))
        .filter((parts) => parts.includes(HERITAGE))
        .map((parts) => {
          const of = (key: string) => parts.find((part) => part.startsWith(`${key}=`))?.slice(key.length + 1)
          return {
            record: Name!,
            id: of('external-dns/owner') ?? 'default',
            resource: of('external-dns/resource') ?? 'unknown',
          }
        }),
    )
}
