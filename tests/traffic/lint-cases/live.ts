/** Lint cases about the live state. */

import { lintHealth } from '../../../traffic/lint/live.ts'
import type { Code } from '../../../traffic/model/finding.ts'
import { annotate, type Case, live, ok } from './support.ts'

export const liveCases = {
  'TS-H01': [
    {
      path: 'steps[1].weights.target',
      says: /0 healthy/,
      bad: () => lintHealth({ target: 10 }, 0, 1, 'steps[1].weights.target'),
      good: () => [...lintHealth({ target: 10 }, 1, 1, ''), ...lintHealth({ target: 0 }, 0, 1, '')],
    },
  ],
  'TS-X01': [
    {
      path: 'actionName',
      says: /Argo/,
      bad: () =>
        live(
          (facts) =>
            (facts.currentIngress.metadata.annotations['rollouts.argoproj.io/managed-alb-actions'] =
              '{"web":["web-switch"]}'),
        ),
      good: () => live(ok),
    },
    {
      path: 'actionName',
      says: /Argo/,
      bad: () =>
        live(
          (facts) =>
            (facts.currentIngress.metadata.annotations['rollouts.argoproj.io/managed-alb-annotations'] =
              '{"web":["alb.ingress.kubernetes.io/actions.web-switch"]}'),
        ),
      good: () => live(ok),
    },
  ],
  'TS-X02': [
    {
      path: 'current.ingress.name',
      says: /no Ingress/,
      bad: () => live((facts) => delete facts.currentIngress),
      good: () => live(ok),
    },
    {
      path: 'target.service.name',
      says: /no Service/,
      bad: () => live((facts) => delete facts.targetService),
      good: () => live((facts) => delete facts.targetIngress),
    },
    {
      path: 'current.ingress',
      says: /no load balancer/,
      bad: () => live((facts) => delete facts.loadBalancer),
      good: () => live(ok),
    },
  ],
  'TS-X03': [
    {
      path: 'targetGroup.port',
      says: /9090/,
      bad: () => live((facts) => (facts.targetGroup.port = 9090)),
      good: () => live((facts) => delete facts.targetGroup),
    },
    {
      path: 'targetGroup.name',
      says: /used by arn:other/,
      bad: () => live((facts) => facts.targetGroup.loadBalancerArns.push('arn:other')),
      good: () => live(ok),
    },
  ],
  'TS-X04': [
    {
      path: 'binding.sourceSecurityGroup',
      says: /not attached/,
      bad: () => live((facts) => (facts.loadBalancer.securityGroups = ['sg-11111111'])),
      good: () => live(ok),
    },
  ],
  'TS-X05': [
    {
      path: 'current.service',
      says: /auth-type, auth-idp-oidc.*become public/,
      bad: () =>
        live((facts) => {
          facts.currentService.metadata.annotations = {
            'alb.ingress.kubernetes.io/auth-type': 'oidc',
            'alb.ingress.kubernetes.io/auth-idp-oidc': '{}',
          }
        }),
      good: () =>
        live((facts) => {
          facts.currentService.metadata.annotations = { 'alb.ingress.kubernetes.io/auth-type': 'none' }
        }),
    },
  ],
  'TS-X06': [
    {
      path: 'current.service',
      says: /actions\.beta forwards to Service web too/,
      bad: () =>
        live((facts) => {
          annotate(
            'actions.beta',
            '{"type":"forward","forwardConfig":{"targetGroups":[{"serviceName":"web"}]}}',
          )(facts.currentIngress)
          facts.currentIngress.spec.rules[0].http.paths.push({
            path: '/beta',
            pathType: 'Prefix',
            backend: { service: { name: 'beta', port: { name: 'use-annotation' } } },
          })
        }),
      good: () => live(ok),
    },
  ],
} satisfies Partial<Record<Code, readonly Case[]>>
