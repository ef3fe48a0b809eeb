/** Lint cases about hosts, records and routes. */
import type { Code } from '../../../traffic/model/finding.ts'
import { type Case, ok, plan, record, route53, routes } from './support.ts'

export const namesCases = {
  'TS-D01': [
    {
      path: 'dns.hostname',
      says: /localhost/,
      bad: () => plan((raw) => (raw.dns.hostname = 'localhost')),
      good: () => plan(ok),
    },
    {
      path: 'routes[0].hostname',
      says: /whose record moves/,
      bad: () => routes((raw) => delete raw.routes[0].current.ingress.host),
      good: () =>
        routes((raw) => {
          delete raw.routes[0].current.ingress.host
          raw.dns.hostname = 'shop.example.com'
        }),
    },
  ],
  'TS-D02': [
    {
      path: 'dns.route53.hostedZoneId',
      says: /got "example.com"/,
      bad: () => route53({ hostedZoneId: 'example.com' }),
      good: () => route53({}),
    },
    {
      path: 'dns.route53.hostedZoneId',
      says: /no hosted zone/,
      bad: () => record((facts) => (facts.zone = undefined)),
      good: () => record(ok),
    },
    {
      path: 'dns.route53.hostedZoneId',
      says: /not a name of the zone shop.org/,
      bad: () => record((facts) => (facts.zone.name = 'shop.org.')),
      good: () => record((facts) => (facts.zone.name = 'shop.example.com.')),
    },
  ],
  'TS-D03': [
    {
      path: 'dns.hostname',
      says: /no A, AAAA or CNAME record/,
      bad: () => record((facts) => (facts.records = [])),
      good: () => record((facts) => (facts.records[0].AliasTarget.DNSName = 'green.elb.amazonaws.com.')),
    },
    {
      path: 'dns.hostname',
      says: /policy Failover/,
      bad: () => record((facts) => (facts.records[0].Failover = 'PRIMARY')),
      good: () => record((facts) => Object.assign(facts.records[0], { SetIdentifier: 'blue', Weight: 1 })),
    },
    {
      path: 'dns.hostname',
      says: /leads elsewhere.*cloudfront/,
      bad: () => record((facts) => (facts.records[0].AliasTarget.DNSName = 'd1.cloudfront.net.')),
      good: () => record((facts) => (facts.records = [{ Type: 'A', ResourceRecords: [{ Value: '10.1.0.1' }] }])),
    },
    {
      path: 'dns.hostname',
      says: /exactly one weighted record/,
      bad: () =>
        record((facts) => {
          facts.records = ['one', 'two'].map((SetIdentifier) => ({ ...facts.records[0], SetIdentifier, Weight: 1 }))
        }),
      good: () => record(ok),
    },
  ],
  'TS-D04': [
    {
      path: 'dns.route53',
      says: /owner id blue-dns made the record of shop.example.com for ingress\/shop\/web/,
      bad: () =>
        record((facts) => facts.owners.push({ id: 'blue-dns', resource: 'ingress/shop/web', record: 'a-shop' })),
      good: () => record(ok),
    },
  ],
  'TS-D05': [
    {
      path: 'dns.route53.shares',
      says: /last share is 50/,
      bad: () => route53({ shares: [10, 50] }),
      good: () => route53({ shares: [10, 50, 100] }),
    },
    {
      path: 'dns.route53.shares',
      says: /does not grow/,
      bad: () => route53({ shares: [50, 10, 100] }),
      good: () => route53({ shares: [100] }),
    },
    {
      path: 'dns.route53.shares[0]',
      says: /got 0/,
      bad: () => route53({ shares: [0, 100] }),
      good: () => route53({ shares: [1, 100] }),
    },
    {
      path: 'dns.route53',
      says: /observe/,
      bad: () =>
        plan((raw) => {
          raw.mode = 'observe'
          raw.dns.route53 = { hostedZoneId: 'Z0123456789SHOP' }
        }),
      good: () => plan((raw) => (raw.mode = 'observe')),
    },
  ],
  'TS-R01': [
    ...[
      ['routes[1].name', /the name web belongs/, (raw: any) => (raw.routes[1].name = 'web')],
      ['routes[1].actionName', /action web-switch/, (raw: any) => (raw.routes[1].actionName = 'web-switch')],
      ['routes[1].current.service', /Service web/, (raw: any) => (raw.routes[1].current.service.name = 'web')],
      [
        'routes[1].current.ingress.path',
        /shop.example.com\/ of/,
        (raw: any) => delete raw.routes[1].current.ingress.path,
      ],
      ['routes[1].target.ingress.path', /green/, (raw: any) => (raw.routes[1].target.ingress.path = '/')],
      [
        'routes[3].targetGroup.name',
        /of route|route web/,
        (raw: any) => (raw.routes[3].targetGroup.name = 'shop-web-target'),
      ],
      [
        'routes[2].binding.name',
        /binding shop\/cart-switch/,
        (raw: any) => (raw.routes[2].binding.name = 'cart-switch'),
      ],
    ].map(([path, says, change]) => ({
      path: path as string,
      says: says as RegExp,
      bad: () => routes(change as (raw: any) => void),
      // The same action name on another Ingress is another action.
      good: () => routes((raw) => (raw.routes[3].actionName = 'web-switch')),
    })),
  ],
  'TS-R02': [
    {
      path: 'routes[3].hostname',
      says: /also the host of route web, but in cluster blue they have two load balancers/,
      bad: () => routes((raw) => (raw.routes[3].hostname = 'shop.example.com')),
      good: () => routes(ok),
    },
    {
      path: 'routes[2].hostname',
      says: /cluster green/,
      bad: () => routes((raw) => delete raw.routes[2].target.ingress.groupName),
      good: () => routes(ok),
    },
  ],
  'TS-R03': [
    {
      path: 'routes[1].current.ingress.annotations',
      says: /route web says otherwise about the same Ingress shop\/web/,
      bad: () => routes((raw) => (raw.routes[1].current.ingress.annotations = {})),
      good: () => routes(ok),
    },
  ],
} satisfies Partial<Record<Code, readonly Case[]>>
