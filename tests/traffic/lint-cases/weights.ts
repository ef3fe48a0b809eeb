/** Lint cases about form, weights and stickiness. */
import type { Code } from '../../../src/traffic/model/finding.ts'
import { parsePlan } from '../../../src/traffic/model/plan.ts'
import { SHOP_YAML } from '../support/shop.ts'
import { ACTION, ARN, action, annotate, type Case, ingress, ok, plan, routes } from './support.ts'

export const weightsCases = {
  'TS-Y01': [
    { path: '(file)', says: /./, bad: () => parsePlan('name: [').findings, good: () => parsePlan(SHOP_YAML).findings },
  ],
  'TS-Y02': [
    {
      path: 'commit.repoUrl',
      says: /has a user name or password/,
      bad: () => plan((raw) => (raw.commit = { sha: 'abcdef0', repoUrl: 'https://ada:secret@git.example.com/x' })),
      good: () => plan((raw) => (raw.commit = { sha: 'abcdef0', repoUrl: 'https://git.example.com/x' })),
    },
    {
      path: 'targetGroup.helthCheck',
      says: /did you mean healthCheck/,
      bad: () => plan((raw) => (raw.targetGroup.helthCheck = {})),
      good: () => plan(ok),
    },
    {
      path: 'actionName',
      says: /unknown field actionName, which belongs to another place/,
      bad: () => routes((raw) => (raw.actionName = 'web-switch')),
      good: () => routes(ok),
    },
    {
      path: 'spec.rulez',
      says: /did you mean rules/,
      bad: () => ingress((object) => (object.spec.rulez = [])),
      good: () => ingress(ok),
    },
  ],
  'TS-W01': [
    {
      path: 'steps[1].weights.target',
      says: /"10"/,
      bad: () => plan((raw) => (raw.steps[1].weights.target = '10')),
      good: () => plan(ok),
    },
    {
      path: 'steps[1].weights.target',
      says: /10\.5/,
      bad: () => plan((raw) => (raw.steps[1].weights.target = 10.5)),
      good: () => plan(ok),
    },
    {
      path: 'targetGroups[0].weight',
      says: /"90"/,
      bad: () => action((config) => (config.targetGroups[0].weight = '90')),
      good: () => action(ok),
    },
    {
      path: 'targetGroups[1].weight',
      says: /required/,
      bad: () => action((config) => delete config.targetGroups[1].weight),
      good: () => action(ok),
    },
  ],
  'TS-W02': [
    {
      path: 'steps[1].weights.target',
      says: /-1/,
      bad: () => plan((raw) => (raw.steps[1].weights.target = -1)),
      good: () => plan(ok),
    },
    {
      path: 'steps[1].weights.target',
      says: /1000/,
      bad: () => plan((raw) => (raw.steps[1].weights.target = 1000)),
      good: () => plan((raw) => (raw.steps[1].weights.target = 10)),
    },
    {
      path: 'targetGroups[0].weight',
      says: /-5/,
      bad: () => action((config) => (config.targetGroups[0].weight = -5)),
      good: () => action(ok),
    },
    {
      path: 'targetGroups[0].weight',
      says: /1000/,
      bad: () => action((config) => (config.targetGroups[0].weight = 1000)),
      good: () => action(ok),
    },
  ],
  'TS-W03': [
    {
      path: 'steps[1].weights',
      says: /110, not 100/,
      bad: () => plan((raw) => (raw.steps[1].weights.target = 20)),
      good: () => plan(ok),
    },
    {
      path: 'targetGroups',
      says: /8\/2 add up to 10/,
      bad: () =>
        action((config) => {
          config.targetGroups[0].weight = 8
          config.targetGroups[1].weight = 2
        }),
      good: () => action(ok),
    },
  ],
  'TS-W04': [
    {
      path: 'steps[1].weights',
      says: /0\/0/,
      bad: () => plan((raw) => (raw.steps[1].weights = { current: 0, target: 0 })),
      good: () => plan(ok),
    },
    {
      path: 'targetGroups',
      says: /all weights are 0/,
      bad: () =>
        action((config) => {
          for (const group of config.targetGroups) group.weight = 0
        }),
      good: () => action(ok),
    },
  ],
  'TS-W05': [
    {
      path: 'steps[0].weights.target',
      says: /first step/,
      bad: () => plan((raw) => (raw.steps[0].weights = { current: 90, target: 10 })),
      good: () => plan(ok),
    },
    {
      path: 'steps[3].weights.current',
      says: /last step/,
      bad: () => plan((raw) => (raw.steps[3].weights = { current: 10, target: 90 })),
      good: () => plan(ok),
    },
    {
      path: 'steps[2].weights',
      says: /falls/,
      bad: () => plan((raw) => (raw.steps[2].weights = { current: 95, target: 5 })),
      good: () => plan(ok),
    },
  ],
  'TS-W06': [
    {
      path: 'targetGroups',
      says: /6 target groups/,
      bad: () =>
        action((config) => {
          for (let n = 0; n < 4; n++) config.targetGroups.push({ targetGroupName: `extra-${n}`, weight: 0 })
        }),
      good: () =>
        action((config) => {
          for (let n = 0; n < 3; n++) config.targetGroups.push({ targetGroupName: `extra-${n}`, weight: 0 })
        }),
    },
  ],
  'TS-W07': [
    {
      path: 'targetGroups',
      says: /stands twice/,
      bad: () => action((config) => config.targetGroups.push({ targetGroupARN: ARN, weight: 0 })),
      good: () => action(ok),
    },
  ],
  'TS-S01': [
    {
      path: 'stickiness.durationSeconds',
      says: /required/,
      bad: () => plan((raw) => delete raw.stickiness.durationSeconds),
      good: () => plan(ok),
    },
    {
      path: 'stickiness.durationSeconds',
      says: /604801/,
      bad: () => plan((raw) => (raw.stickiness.durationSeconds = 604801)),
      good: () => plan((raw) => (raw.stickiness.durationSeconds = 604800)),
    },
    {
      path: 'durationSeconds',
      says: /got 0/,
      bad: () => action((config) => (config.targetGroupStickinessConfig.durationSeconds = 0)),
      good: () => action((config) => (config.targetGroupStickinessConfig.durationSeconds = 604_800)),
    },
    {
      path: 'enabled',
      says: /"True"/,
      bad: () => action((config) => (config.targetGroupStickinessConfig.enabled = 'True')),
      good: () => action(ok),
    },
  ],
  'TS-S02': [
    {
      path: 'stickiness.atFinalStep',
      says: /simulated/,
      bad: () => plan((raw) => (raw.stickiness.atFinalStep = 'keep')),
      good: () => plan(ok),
    },
    {
      path: 'targetGroupStickinessConfig.enabled',
      says: /weight 0/,
      bad: () =>
        action((config) => {
          config.targetGroups[0].weight = 0
          config.targetGroups[1].weight = 100
        }),
      good: () => action(ok),
    },
  ],
  'TS-S03': [
    {
      path: 'steps[1].dwellSeconds',
      says: /60 s is shorter/,
      bad: () => plan((raw) => (raw.steps[1].dwellSeconds = 60)),
      good: () => plan(ok),
    },
  ],
  'TS-S04': [
    {
      path: 'current.ingress.annotations',
      says: /forbids/,
      bad: () =>
        plan(
          (raw) =>
            (raw.current.ingress.annotations['alb.ingress.kubernetes.io/target-group-attributes'] =
              'stickiness.enabled=true'),
        ),
      good: () =>
        plan(
          (raw) =>
            (raw.current.ingress.annotations['alb.ingress.kubernetes.io/target-group-attributes'] =
              'stickiness.enabled=false'),
        ),
    },
    {
      path: 'targetGroupStickinessConfig',
      says: /enables stickiness/,
      bad: () =>
        ingress((object) => {
          annotate('target-group-attributes', 'stickiness.enabled=true')(object)
          object.metadata.annotations[ACTION] = object.metadata.annotations[ACTION].replace(
            '"enabled":true',
            '"enabled":false',
          )
        }),
      good: () => ingress(annotate('target-group-attributes', 'stickiness.enabled=true')),
    },
  ],
  'TS-S05': [
    {
      path: 'targetGroupStickinessConfig',
      says: /left out/,
      bad: () => action((config) => delete config.targetGroupStickinessConfig),
      good: () => action(ok),
    },
  ],
} satisfies Partial<Record<Code, readonly Case[]>>
