/** Finds the path of an Ingress that a plan is about. */
import { backendsOf, type Ingress } from '../model/manifests.ts'
import { textOf } from '../model/names.ts'
import type { Choose, ImportRequest } from './import-types.ts'

export interface Place {
  readonly host: string | undefined
  readonly path: string
  readonly pathType: string
  readonly service: string
  readonly port: string
  readonly isNumber: boolean
}

export const placesIn = (ingress: Ingress): readonly Place[] =>
  backendsOf(ingress).flatMap(({ path, backend }) => {
    const { service } = backend
    if (service === undefined || service.port?.name === 'use-annotation') return []
    const rule = path[1] === 'rules' ? ingress.spec.rules?.[path[2] as number] : undefined
    const place = rule?.http?.paths[path[5] as number]
    const isNumber = service.port?.number !== undefined
    const port = textOf(service.port?.number ?? service.port?.name ?? '')
    const { name } = service
    return [
      {
        // An empty name means no host, as in Kubernetes.
        host: rule?.host || undefined,
        path: place?.path ?? '/',
        pathType: place?.pathType ?? 'Prefix',
        service: name,
        port,
        isNumber,
      },
    ]
  })

export const distinct = <T>(values: readonly T[]): readonly T[] => [...new Set(values)]

const routeWords = ({ host, path, service, port }: Place): string =>
  `${host ?? 'any host'}${path} to ${service}:${port}`

export interface NamedPlace extends Place {
  /** The name that clients use; the Ingress itself may name no host. */
  readonly hostname: string
}

/** Asks for Service, port, host and path, one after the other: each answer narrows the next question. */
export function choosePlace(ingress: Ingress, hostname: string | undefined, choose: Choose): NamedPlace | undefined {
  const where = `Ingress ${ingress.metadata.namespace}/${ingress.metadata.name}`
  let left = placesIn(ingress)
  const narrow = (field: keyof ImportRequest, text: string, say: (place: Place) => string): boolean => {
    const routesOfChoice = (choice: string) =>
      left
        .filter((each) => say(each) === choice)
        .map(routeWords)
        .join(', ')
    const answer = choose(field, text, distinct(left.map(say)), (each) => each, routesOfChoice)
    left = left.filter((each) => say(each) === answer)
    return answer !== undefined
  }
  if (!narrow('service', `${where} leads to these Services. Which one moves?`, ({ service }) => service))
    return undefined
  if (!narrow('port', `${where} uses these ports of the Service. Which one moves?`, ({ port }) => port))
    return undefined
  const hostText = `${where} has these hosts for the Service. Which one do clients use, and DNS move?`
  const isNamed = left.some(({ host }) => host !== undefined)
  if (isNamed && !narrow('host', hostText, ({ host }) => host ?? '')) return undefined
  if (!narrow('path', `${where} has these paths for the host. Which one stands for them?`, ({ path }) => path))
    return undefined
  const place = left[0]!
  const name = place.host ?? (isNamed ? undefined : hostname)
  if (name !== undefined) return { ...place, hostname: name }
  choose('host', `${where} names no host. Which name do clients use?`, [], String)
  return undefined
}
