import { z } from 'zod'
import {
  deliveryRules,
  type Fields,
  matches,
  optionalPattern,
  patternField,
  type Settings,
} from '../../plugin-kit/index.ts'

const repositories = z
  .record(
    z.string().max(255),
    z.array(z.int('must be the number of a repository in Bamboo'), 'must be a list of numbers').max(1000),
    'must be an object of lists, such as {"github:GithubRepo:1:42": [622595]}',
  )
  .nullable()

const NAMES_HELP = 'Matched against the names of plans and of jobs.'

export const scopeConfigFields: Fields = {
  deploymentPattern: patternField('Builds that deploy', '', {
    help: `${NAMES_HELP} Leave it empty if you use deployment projects: they count by themselves.`,
    names: ['plans', 'jobs'],
    looksLike: '(?i)(deploy|release|publish|rollout)',
    needlessWith: 'environments',
  }),
  productionPattern: patternField('Those that deploy to production', '', {
    help: NAMES_HELP,
    names: ['plans', 'jobs'],
    looksLike: '(?i)(prod|live)',
    within: 'deploymentPattern',
  }),
  envNamePattern: patternField('Environments that are production', '(?i)prod(.*)', {
    help: 'Matched against the names of environments of deployment projects.',
    names: ['environments'],
    looksLike: '(?i)(live|prd)',
  }),
  repoMap: {
    kind: 'json',
    schema: repositories,
    label: 'Repositories of Bamboo',
    help: 'Bamboo has its own numbers for repositories. For each repository of a code host, by its id in the table repos, name its numbers in Bamboo: without them, deployments have no lead time.',
    isOptional: true,
    isOnRequest: true,
    suggestion: null,
  },
}

export function rules(settings: Settings) {
  const environment = optionalPattern(settings.envNamePattern, 'envNamePattern')
  const repoMap = (settings.repoMap ?? {}) as Record<string, readonly number[]>
  const known = new Map(Object.entries(repoMap).flatMap(([id, numbers]) => numbers.map((number) => [number, id])))
  return {
    ...deliveryRules(settings),
    isProduction: (name: string): boolean => matches(environment, name),
    /** Returns the repository in the domain model for its number in Bamboo. Undefined if none was set. */
    repositoryOf: (number: number): string | undefined => known.get(number),
  }
}
