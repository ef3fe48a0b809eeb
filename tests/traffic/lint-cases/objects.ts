/** Lint cases about ports, target groups, networks, bindings and groups of Ingresses. */
import type { Code } from '../../../traffic/model/finding.ts'
import { ARN, action, annotate, binding, type Case, CURRENT, ingress, live, ok, plan } from './support.ts'

export const objectsCases = {
  'TS-P01': [
    {
      path: 'current.service.port',
      says: /70000/,
      bad: () => plan((raw) => (raw.current.service.port = 70000)),
      good: () => plan((raw) => (raw.current.service.port = 'http')),
    },
    {
      path: 'servicePort',
      says: /"HTTP!"/,
      bad: () => action((config) => (config.targetGroups[0].servicePort = 'HTTP!')),
      good: () => action((config) => (config.targetGroups[0].servicePort = '80')),
    },
  ],
  'TS-P02': [
    {
      path: 'servicePort',
      says: /no port 81/,
      bad: () => action((config) => (config.targetGroups[0].servicePort = 81)),
      good: () => action((config) => (config.targetGroups[0].servicePort = 'http')),
    },
    {
      path: 'spec.serviceRef.port',
      says: /no port 8080/,
      bad: () => binding((object) => (object.spec.serviceRef.port = 8080)),
      good: () => binding(ok),
    },
    {
      path: 'binding.serviceRef',
      says: /web:81/,
      bad: () => plan((raw) => (raw.binding.serviceRef.port = 81)),
      good: () => plan(ok),
    },
    {
      path: 'current.service',
      says: /no path/,
      bad: () =>
        live((facts) => (facts.currentIngress.spec.rules[0].http.paths[0].backend.service.port = { name: 'http' })),
      good: () => live(ok),
    },
  ],
  'TS-T01': [
    {
      path: 'targetGroup.name',
      says: /-x/,
      bad: () => plan((raw) => (raw.targetGroup.name = '-x')),
      good: () =>
        plan((raw) => {
          raw.targetGroup.name = 'a'.repeat(32)
          delete raw.targetGroup.arn
        }),
    },
  ],
  'TS-T02': [
    {
      path: 'targetGroup.protocol',
      says: /"TCP"/,
      bad: () => plan((raw) => (raw.targetGroup.protocol = 'TCP')),
      good: () => plan(ok),
    },
    {
      path: 'targetGroup.healthCheck.timeoutSeconds',
      says: /below the interval/,
      bad: () => plan((raw) => (raw.targetGroup.healthCheck.timeoutSeconds = 15)),
      good: () => plan(ok),
    },
  ],
  'TS-T03': [
    {
      path: 'targetGroup.arn',
      says: /region us-east-1, the plan eu-central-1/,
      bad: () => plan((raw) => (raw.targetGroup.arn = ARN.replace('eu-central-1', 'us-east-1'))),
      good: () => plan(ok),
    },
    {
      path: 'targetGroup.arn',
      says: /accountId/,
      bad: () => plan((raw) => (raw.targetGroup.arn = ARN.replace('123456789012', '999999999999'))),
      good: () => plan(ok),
    },
    {
      path: 'targetGroup.arn',
      says: /not the ARN/,
      bad: () => plan((raw) => (raw.targetGroup.arn = 'shop-web-target')),
      good: () => plan(ok),
    },
    {
      path: 'targetGroups[1].targetGroupARN',
      says: /not the ARN/,
      bad: () => action((config) => (config.targetGroups[1].targetGroupARN = ARN.slice(0, -1))),
      good: () => action(ok),
    },
  ],
  'TS-T04': [
    {
      path: 'targetGroup.tags["elbv2.k8s.aws/cluster"]',
      says: /belongs to the controller/,
      bad: () => plan((raw) => (raw.targetGroup.tags = { 'elbv2.k8s.aws/cluster': 'green' })),
      good: () => plan((raw) => (raw.targetGroup.tags = { team: 'shop' })),
    },
  ],
  'TS-V01': [
    {
      path: 'targetGroup.vpcId',
      says: /vpc-1/,
      bad: () => plan((raw) => (raw.targetGroup.vpcId = 'vpc-1')),
      good: () => plan(ok),
    },
    {
      path: 'groupID',
      says: /sg-1/,
      bad: () => binding((object) => (object.spec.networking.ingress[0].from[0].securityGroup.groupID = 'sg-1')),
      good: () => binding(ok),
    },
  ],
  'TS-V02': [
    {
      path: 'targetGroup.vpcId',
      says: /not the VPC of the target cluster/,
      bad: () => plan((raw) => (raw.target.vpcId = 'vpc-11111111')),
      good: () => plan(ok),
    },
    {
      path: 'targetGroup.vpcId',
      says: /current load balancer/,
      bad: () => live((facts) => (facts.loadBalancer.vpcId = 'vpc-11111111')),
      good: () => live(ok),
    },
  ],
  'TS-B01': [
    {
      path: 'binding.name',
      says: /MyTargetGroupBinding/,
      bad: () => plan((raw) => (raw.binding.name = 'MyTargetGroupBinding')),
      good: () => plan((raw) => (raw.binding.name = 'b'.repeat(63))),
    },
    {
      path: 'metadata.name',
      says: /"My"/,
      bad: () => binding((object) => (object.metadata.name = 'My')),
      good: () => binding(ok),
    },
  ],
  'TS-B02': [
    {
      path: 'spec.networking.ingress[0]',
      says: /opens nothing/,
      bad: () => binding((object) => (object.spec.networking.ingress[0].ports = [])),
      good: () => binding(ok),
    },
    {
      path: 'from[0]',
      says: /exactly one/,
      bad: () => binding((object) => (object.spec.networking.ingress[0].from[0].ipBlock = { cidr: '10.0.0.0/8' })),
      good: () => binding(ok),
    },
    {
      path: 'ports[0].protocol',
      says: /./,
      bad: () => binding((object) => (object.spec.networking.ingress[0].ports[0].protocol = 'tcp')),
      good: () => binding(ok),
    },
  ],
  'TS-B03': [
    {
      path: 'binding.port',
      says: /port 80 is opened/,
      bad: () => plan((raw) => (raw.binding.port = 80)),
      good: () => plan(ok),
    },
    {
      path: 'ports',
      says: /listen on 8080/,
      bad: () => binding((object) => (object.spec.networking.ingress[0].ports[0].port = 80)),
      good: () => binding(ok),
    },
  ],
  'TS-B04': [
    {
      path: 'binding.namespace',
      says: /other is not shop/,
      bad: () => plan((raw) => (raw.binding.namespace = 'other')),
      good: () => plan((raw) => delete raw.binding.namespace),
    },
  ],
  'TS-G01': [
    {
      path: 'current.ingress.groupName',
      says: /Shop_/,
      bad: () => plan((raw) => (raw.current.ingress.groupName = 'Shop_1')),
      good: () => plan(ok),
    },
    { path: 'group.name', says: /"A"/, bad: () => ingress(annotate('group.name', 'A')), good: () => ingress(ok) },
  ],
  'TS-G02': [
    {
      path: 'group.order',
      says: /1001/,
      bad: () => ingress(annotate('group.order', '1001')),
      good: () => ingress(annotate('group.order', '-1000')),
    },
  ],
  'TS-G03': [
    {
      path: 'group.name',
      says: /"shop-current", the new one in "shop-new"/,
      bad: () => ingress(annotate('group.name', 'shop-new'), CURRENT),
      good: () => ingress(ok, CURRENT),
    },
    {
      path: 'current.ingress.groupName',
      says: /"other"/,
      bad: () => live((facts) => (facts.currentIngress.metadata.finalizers = ['group.ingress.k8s.aws/other'])),
      good: () => live(ok),
    },
  ],
} satisfies Partial<Record<Code, readonly Case[]>>
