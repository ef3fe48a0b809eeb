/** Lint cases about actions. */
import type { Code } from '../../../traffic/model/finding.ts'
import { ACTION, ARN, action, annotate, type Case, ingress, ok, plan } from './support.ts'

export const actionsCases = {
  'TS-A01': [
    {
      path: 'actionName',
      says: /"Web"/,
      bad: () => plan((raw) => (raw.actionName = 'Web')),
      good: () => plan((raw) => (raw.actionName = 'a'.repeat(55))),
    },
    {
      path: 'annotations',
      says: /"9web"/,
      bad: () => ingress(annotate('actions.9web', '{"type":"forward","targetGroupName":"a"}')),
      good: () => ingress(ok),
    },
  ],
  'TS-A02': [
    {
      path: 'service.port',
      says: /use-anotation/,
      bad: () => ingress((object) => (object.spec.rules[0].http.paths[0].backend.service.port.name = 'use-anotation')),
      good: () => ingress(ok),
    },
    {
      path: 'service.port',
      says: /exclude/,
      bad: () => ingress((object) => (object.spec.rules[0].http.paths[0].backend.service.port.number = 80)),
      good: () => ingress(ok),
    },
  ],
  'TS-A03': [
    {
      path: 'actionName',
      says: /also the name/,
      bad: () => plan((raw) => (raw.actionName = 'web')),
      good: () => plan(ok),
    },
  ],
  'TS-A04': [
    {
      path: 'targetGroups[0]',
      says: /serviceName and targetGroupARN/,
      bad: () => action((config) => (config.targetGroups[0].targetGroupARN = ARN.replace('shop-web-target', 'other'))),
      good: () => action(ok),
    },
    {
      path: 'targetGroups[0]',
      says: /none of them/,
      bad: () => action((config) => delete config.targetGroups[0].serviceName),
      good: () => action(ok),
    },
    {
      path: 'targetGroups[0]',
      says: /needs servicePort/,
      bad: () => action((config) => delete config.targetGroups[0].servicePort),
      good: () => action(ok),
    },
  ],
  'TS-A05': [
    {
      path: 'service.name',
      says: /503/,
      bad: () => ingress((object) => (object.spec.rules[0].http.paths[0].backend.service.name = 'web-swich')),
      good: () => ingress(ok),
    },
  ],
  'TS-A06': [
    {
      path: 'annotations',
      says: /no backend/,
      bad: () => ingress(annotate('actions.other', '{"type":"forward","targetGroupName":"a"}')),
      good: () => ingress(ok),
    },
  ],
  'TS-A07': [
    {
      path: ACTION,
      says: /not JSON/,
      bad: () => ingress((object) => (object.metadata.annotations[ACTION] = '{"type":"forward",}')),
      good: () => ingress(ok),
    },
  ],
  'TS-A08': [
    {
      path: '.type',
      says: /did you mean forward/,
      bad: () => action((_config, whole) => (whole.type = 'foward')),
      good: () => action(ok),
    },
    {
      path: ACTION,
      says: /not both/,
      bad: () => action((_config, whole) => (whole.targetGroupARN = ARN)),
      good: () => action(ok),
    },
    {
      path: ACTION,
      says: /needs forwardConfig/,
      bad: () => action((_config, whole) => delete whole.forwardConfig),
      good: () => action(ok),
    },
  ],
  'TS-A09': [
    {
      path: 'targetGroups[1].wieght',
      says: /did you mean weight/,
      bad: () =>
        action((config) => {
          config.targetGroups[1].wieght = 10
        }),
      good: () => action(ok),
    },
    {
      path: 'targetGroupStickynessConfig',
      says: /did you mean targetGroupStickinessConfig/,
      bad: () => action((config) => (config.targetGroupStickynessConfig = {})),
      good: () =>
        action((config, whole) => {
          whole.ForwardConfig = config
          delete whole.forwardConfig
        }),
    },
  ],
} satisfies Partial<Record<Code, readonly Case[]>>
