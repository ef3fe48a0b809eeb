import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as sdk from '@aws-sdk/client-route-53'
import { xmlProblems } from './sdk-model.ts'
import { childOf, escapeXml, readXml, textIn, type XmlNode } from './xml.ts'

type RecordSet = sdk.ResourceRecordSet

export class Route53Error extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

export interface FakeRoute53 {
  readonly url: string
  readonly zones: Map<string, { readonly name: string; records: RecordSet[] }>
  /** Each accepted batch, such as `DELETE A shop.example.com., CREATE A shop.example.com.` */
  readonly batches: string[]
  /** The number of times that a change must be polled before its zone is in sync. */
  looksUntilInSync: number
  /** The current time for AWS. */
  now: () => Date
  /** Called before every request. A returned error is answered instead. */
  intercept: (action: string) => Route53Error | undefined
  /** Called when a change has reached every name server. */
  onInSync: (zone: string) => void
  /** Adds records as if somebody else had written them. */
  seed(zone: string, ...records: readonly RecordSet[]): void
  of(zone: string, name: string): readonly RecordSet[]
  close(): Promise<void>
}

const NAMESPACE = 'https://route53.amazonaws.com/doc/2013-04-01/'
const dotted = (name: string): string => (name.endsWith('.') ? name : `${name}.`).toLowerCase().replace('*', '\\052')
/** Route 53 sorts names by their labels from the right. */
const sortKey = (name: string): string => dotted(name).split('.').reverse().join('\u0001')
const place = ({ Name, Type, SetIdentifier = '' }: RecordSet): string =>
  [sortKey(Name!), Type, SetIdentifier].join('\u0000')
const isSame = (left: RecordSet, right: RecordSet): boolean =>
  left.Name === right.Name && left.Type === right.Type && left.SetIdentifier === right.SetIdentifier
const inWords = ({ Name, Type, SetIdentifier }: RecordSet): string =>
  `[name='${Name}', type='${Type}'${SetIdentifier === undefined ? '' : `, set-identifier='${SetIdentifier}'`}]`

/** Route 53 over its real protocol: REST with XML, batches that succeed as a whole, typed errors. */
export async function startFakeRoute53(): Promise<FakeRoute53> {
  const zones: FakeRoute53['zones'] = new Map()
  const changes = new Map<string, { zone: string; looksLeft: number; at: string }>()
  const fake: FakeRoute53 = {
    url: '',
    zones,
    batches: [],
    looksUntilInSync: 1,
    now: () => new Date(),
    intercept: () => undefined,
    onInSync: () => {},
    seed(zone, ...records) {
      for (const record of records.map(normal)) {
        const { records: all } = zones.get(zone)!
        zones.get(zone)!.records = [...all.filter((each) => !isSame(each, record)), record]
      }
    },
    of: (zone, name) =>
      zones
        .get(zone)!
        .records.filter(({ Name }) => Name === dotted(name))
        .toSorted((left, right) => (place(left) < place(right) ? -1 : 1)),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }

  const zoneOf = (id: string) => {
    const zone = zones.get(id)
    if (zone === undefined) throw new Route53Error('NoSuchHostedZone', `No hosted zone found with ID: ${id}`)
    return zone
  }

  function change(id: string, body: XmlNode): string {
    const zone = zoneOf(id)
    let next = zone.records
    const problems: string[] = []
    const words: string[] = []
    for (const node of childOf(body, 'ChangeBatch', 'Changes')?.children ?? []) {
      const action = textIn(node, 'Action')!
      const record = recordIn(childOf(node, 'ResourceRecordSet')!)
      const live = next.find((each) => isSame(each, record))
      words.push(`${action} ${record.Type} ${record.Name}`)
      if (action === 'DELETE') {
        const what = `Tried to delete resource record set ${inWords(record)} but`
        if (live === undefined) problems.push(`${what} it was not found`)
        else if (canonical(live) !== canonical(record))
          problems.push(`${what} the values provided do not match the current values`)
        next = next.filter((each) => each !== live)
        continue
      }
      if (action === 'CREATE' && live !== undefined)
        problems.push(`Tried to create resource record set ${inWords(record)} but it already exists`)
      problems.push(
        ...refusals(
          record,
          next.filter((each) => each !== live),
          zone.name,
        ),
      )
      next = [...next.filter((each) => each !== live), record]
    }
    if (words.length === 0) throw new Route53Error('InvalidInput', 'Changes must have at least one member')
    if (problems.length > 0) throw new Route53Error('InvalidChangeBatch', `[${problems.join(', ')}]`)
    zone.records = next
    fake.batches.push(words.join(', '))
    const name = `C${String(changes.size + 1).padStart(12, '0')}`
    changes.set(name, { zone: id, looksLeft: fake.looksUntilInSync, at: new Date().toISOString() })
    return `<ChangeInfo>${changeXml(name, 'PENDING')}</ChangeInfo>`
  }

  const changeXml = (id: string, status: string): string =>
    `<Id>/change/${id}</Id><Status>${status}</Status><SubmittedAt>${changes.get(id)!.at}</SubmittedAt>`

  function list(id: string, query: URLSearchParams): string {
    const most = Number(query.get('maxitems') ?? 300)
    const start = query.get('name')
    const from =
      start === null ? '' : [sortKey(start), query.get('type') ?? '', query.get('identifier') ?? ''].join('\u0000')
    const sorted = zoneOf(id).records.toSorted((left, right) => (place(left) < place(right) ? -1 : 1))
    const found = sorted.filter((record) => place(record) >= from)
    const next = found[most]
    const more =
      next === undefined
        ? ''
        : `<NextRecordName>${next.Name}</NextRecordName><NextRecordType>${next.Type}</NextRecordType>${next.SetIdentifier === undefined ? '' : `<NextRecordIdentifier>${next.SetIdentifier}</NextRecordIdentifier>`}`
    return `<ResourceRecordSets>${found.slice(0, most).map(recordXml).join('')}</ResourceRecordSets><IsTruncated>${next !== undefined}</IsTruncated>${more}<MaxItems>${most}</MaxItems>`
  }

  function read(id: string): string {
    const found = changes.get(id)
    if (found === undefined)
      throw new Route53Error('NoSuchChange', `Could not find resource with ID: arn:aws:route53:::change/${id}`)
    if (found.looksLeft > 0 && --found.looksLeft === 0) fake.onInSync(found.zone)
    return `<ChangeInfo>${changeXml(id, found.looksLeft > 0 ? 'PENDING' : 'INSYNC')}</ChangeInfo>`
  }

  const zoneXml = (id: string): string =>
    `<HostedZone><Id>/hostedzone/${id}</Id><Name>${dotted(zoneOf(id).name)}</Name><CallerReference>fake</CallerReference></HostedZone>`

  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    const send = (status: number, xml: string) =>
      response
        .writeHead(status, { 'content-type': 'text/xml', date: fake.now().toUTCString() })
        .end(`<?xml version="1.0"?>\n${xml}`)
    const url = new URL(request.url!, 'http://fake')
    const [, kind, id, part] = /^\/2013-04-01\/(hostedzone|change)\/([^/]+)(?:\/(rrset))?\/?$/.exec(url.pathname) ?? []
    try {
      if (!String(request.headers.authorization).includes('/route53/aws4_request'))
        throw new Route53Error('AccessDenied', 'not signed for route53')
      const [operation, answer] =
        kind === 'change'
          ? (['GetChange', () => read(id!)] as const)
          : part !== 'rrset'
            ? (['GetHostedZone', () => zoneXml(id!)] as const)
            : request.method === 'POST'
              ? (['ChangeResourceRecordSets', () => change(id!, readXml(body))] as const)
              : (['ListResourceRecordSets', () => list(id!, url.searchParams)] as const)
      const refusal = fake.intercept(operation)
      if (refusal !== undefined) throw refusal
      const xml = `<${operation}Response xmlns="${NAMESPACE}">${answer()}</${operation}Response>`
      const problems = xmlProblems(sdk, operation, readXml(xml))
      if (problems.length > 0) throw new Error(problems.join('; '))
      send(200, xml)
    } catch (error) {
      const { code = 'InternalError', message } = error as Route53Error
      const status = code === 'InternalError' ? 500 : code === 'AccessDenied' ? 403 : /^NoSuch/.test(code) ? 404 : 400
      send(
        status,
        `<ErrorResponse xmlns="${NAMESPACE}"><Error><Type>Sender</Type><Code>${code}</Code><Message>${escapeXml(message)}</Message></Error><RequestId>fake</RequestId></ErrorResponse>`,
      )
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return Object.assign(fake, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
}

/** Yields the reasons for which Route 53 refuses a record, given the records that exist already. */
function* refusals(record: RecordSet, others: readonly RecordSet[], zone: string): Generator<string> {
  const name = `RRSet with DNS name ${record.Name}`
  const own = others.filter(({ Name }) => Name === record.Name)
  if (record.Name !== dotted(zone) && !record.Name!.endsWith(`.${dotted(zone)}`))
    yield `${name} is not permitted in zone ${dotted(zone)}`
  if (own.some(({ Type }) => (Type === 'CNAME') !== (record.Type === 'CNAME')))
    yield `${name} is not permitted as it conflicts with other records with the same DNS name in zone ${dotted(zone)}`
  if (own.some(({ Type, Weight }) => Type === record.Type && (Weight === undefined) !== (record.Weight === undefined)))
    yield `${name}, type ${record.Type} cannot be created as weighted and simple sets with the same name and type do not go together`
  if ((record.Weight === undefined) !== (record.SetIdentifier === undefined))
    yield `${name} has a set identifier without a weight, or a weight without a set identifier`
  if (record.Weight !== undefined && (record.Weight < 0 || record.Weight > 255)) yield `${name}: weight is not 0..255`
  if (record.AliasTarget === undefined) {
    if (record.TTL === undefined || (record.ResourceRecords ?? []).length === 0)
      yield `${name}: TTL or value is missing`
  } else if (record.TTL !== undefined || record.ResourceRecords !== undefined)
    yield `${name}: an alias has neither TTL nor values`
  else if (!record.AliasTarget.DNSName!.endsWith('.elb.amazonaws.com.') || !record.AliasTarget.HostedZoneId)
    yield `Tried to create an alias that targets ${record.AliasTarget.DNSName} in zone ${record.AliasTarget.HostedZoneId}, but the alias target name does not lie within the target zone`
}

const normal = (record: RecordSet): RecordSet => ({
  ...record,
  Name: dotted(record.Name!),
  ...(record.AliasTarget === undefined
    ? {}
    : { AliasTarget: { ...record.AliasTarget, DNSName: dotted(record.AliasTarget.DNSName!) } }),
})

const canonical = (record: RecordSet): string => recordXml(record)

function recordIn(node: XmlNode): RecordSet {
  const number = (name: string) => {
    const text = textIn(node, name)
    return text === undefined ? {} : { [name]: Number(text) }
  }
  const text = (name: string) => {
    const found = textIn(node, name)
    return found === undefined ? {} : { [name]: found }
  }
  const alias = childOf(node, 'AliasTarget')
  const values = childOf(node, 'ResourceRecords')?.children.map((child) => ({ Value: textIn(child, 'Value')! }))
  return normal({
    ...text('Name'),
    ...text('Type'),
    ...text('SetIdentifier'),
    ...number('Weight'),
    ...text('Region'),
    ...text('Failover'),
    ...number('TTL'),
    ...(values === undefined ? {} : { ResourceRecords: values }),
    ...(alias === undefined
      ? {}
      : {
          AliasTarget: {
            HostedZoneId: textIn(alias, 'HostedZoneId')!,
            DNSName: textIn(alias, 'DNSName')!,
            EvaluateTargetHealth: textIn(alias, 'EvaluateTargetHealth') === 'true',
          },
        }),
    ...text('HealthCheckId'),
  } as RecordSet)
}

function recordXml(record: RecordSet): string {
  const of = (name: keyof RecordSet) =>
    record[name] === undefined ? '' : `<${name}>${escapeXml(String(record[name]))}</${name}>`
  const { AliasTarget: alias, ResourceRecords: values } = record
  const list = values?.map(({ Value }) => `<ResourceRecord><Value>${escapeXml(Value!)}</Value></ResourceRecord>`)
  const target =
    alias === undefined
      ? ''
      : `<AliasTarget><HostedZoneId>${alias.HostedZoneId}</HostedZoneId><DNSName>${alias.DNSName}</DNSName><EvaluateTargetHealth>${alias.EvaluateTargetHealth}</EvaluateTargetHealth></AliasTarget>`
  return `<ResourceRecordSet>${of('Name')}${of('Type')}${of('SetIdentifier')}${of('Weight')}${of('Region')}${of('Failover')}${of('TTL')}${list === undefined ? '' : `<ResourceRecords>${list.join('')}</ResourceRecords>`}${target}${of('HealthCheckId')}</ResourceRecordSet>`
}
