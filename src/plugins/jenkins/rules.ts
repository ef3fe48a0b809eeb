import { classify } from '../../domain/classify.ts'
import {
  DELIVERY_FIELDS,
  deliveryRules,
  type Fields,
  productionBranchField,
  type Settings,
} from '../../plugin-kit/index.ts'

export const ruleFields: Fields = {
  deploymentPattern: {
    kind: 'regex',
    label: 'Builds and stages that deploy',
    help: 'Matched against the names of stages, and of builds, such as folder/job#12.',
    names: ['jobs', 'stages'],
    looksLike: '(?i)(release|publish|rollout|ship|push-image)',
    size: 255,
    isOptional: true,
    suggestion: '(?i)deploy',
  },
  productionPattern: {
    kind: 'regex',
    label: 'Those that deploy to production',
    help: 'Matched against the same names. Empty: all that deploy.',
    names: ['jobs', 'stages'],
    looksLike: '(?i)prd',
    within: 'deploymentPattern',
    isAllWhenEmpty: true,
    size: 255,
    isOptional: true,
    suggestion: '(?i)(prod|live)',
  },
  productionBranchPattern: productionBranchField('branches'),
  unstableResult: {
    kind: 'choice',
    label: 'Unstable builds count as',
    help: 'Jenkins calls a build unstable that came to its end although tests failed.',
    choices: ['FAILURE', 'SUCCESS'],
    default: 'FAILURE',
    suggestion: 'FAILURE',
    size: 20,
    isOptional: true,
  },
}

const RESULT = { SUCCESS: ['SUCCESS'], FAILURE: ['FAILURE', 'FAILED', 'ABORTED', 'NOT_BUILT'] }

export function prepareRules(settings: Settings) {
  const { unstableResult } = settings
  // Rules without this field come from DevLake: tasks of its plans contain them, and get DevLake's results.
  const isAsDevLake = unstableResult === undefined
  const unstable = isAsDevLake ? '' : unstableResult || 'FAILURE'
  return {
    ...deliveryRules(settings),
    resultOf: (result: string): string => (result === 'UNSTABLE' ? unstable : classify(result, RESULT, '')),
    /** Returns the start of a build or stage, which Jenkins gives in milliseconds. DevLake cuts it to whole seconds. */
    startOf: (milliseconds: number): Date | null =>
      milliseconds > 0 ? new Date(isAsDevLake ? Math.floor(milliseconds / 1000) * 1000 : milliseconds) : null,
  }
}
export type Rules = ReturnType<typeof prepareRules>
/** The settings on which the rows of builds and stages depend. */
export const RULES_OF_RUNS = [...DELIVERY_FIELDS, 'unstableResult'] as const
