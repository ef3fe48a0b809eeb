import { type Fields, matches, optionalPattern, patternField, type Settings } from '../../plugin-kit/index.ts'

const USUAL = '(?i)prod(.*)'
const PLACES = ['applications', 'projects', 'clusters', 'namespaces']

export const scopeConfigFields: Fields = {
  deploymentPattern: patternField('Applications that count', '', {
    help: 'Matched against the names of applications. Leave it empty to count the syncs of all of them.',
    names: ['applications'],
  }),
  productionPattern: patternField('Applications that are production', '', {
    help: 'Matched against the application, its project, its cluster and its namespaces, besides the pattern of environments.',
    names: PLACES,
    looksLike: '(?i)(^|[-_/.])(live|prd)([-_/.]|$)',
  }),
  envNamePattern: patternField('Environments that are production', USUAL, {
    help: 'Matched against the application, its project, its cluster and its namespaces. Others count as testing.',
    names: PLACES,
  }),
}

/** The names and places of an application by which a pattern can recognise its environment. */
interface Place {
  readonly name: string
  readonly namespace: string
  readonly project: string
  readonly dest_server: string
  readonly dest_name: string
  readonly dest_namespace: string
}

/** Returns the name of the cluster, or its address if the name is not known. */
export const clusterOf = ({ dest_name, dest_server }: Place): string => dest_name || dest_server

export function rules({ deploymentPattern, productionPattern, envNamePattern }: Settings) {
  const deployment = optionalPattern(deploymentPattern, 'deploymentPattern')
  const production = optionalPattern(productionPattern, 'productionPattern')
  // As in DevLake, one of the two is required: without both, nothing would be production.
  const environment = optionalPattern(envNamePattern || (productionPattern ? '' : USUAL), 'envNamePattern')
  return {
    counts: (name: string): boolean => deployment === null || matches(deployment, name),
    environmentOf(place: Place): string {
      const { name, namespace, project, dest_server, dest_name, dest_namespace } = place
      const names = [name, namespace, project, dest_server, dest_name, dest_namespace]
      return matches(production, ...names) || matches(environment, ...names) ? 'PRODUCTION' : 'TESTING'
    },
  }
}
