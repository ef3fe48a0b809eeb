import {
  type DocumentNode,
  type FieldNode,
  type GraphQLCompositeType,
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql'
import { githubSchema } from './schema.ts'

/** The cost of a query, as GitHub calculates it before running the query. */
export interface Cost {
  readonly points: number
  readonly nodes: number
  readonly problems: readonly CostProblem[]
}
export interface CostProblem {
  readonly type: 'MISSING_PAGINATION_BOUNDARIES' | 'EXCESSIVE_PAGINATION' | 'MAX_NODE_LIMIT_EXCEEDED'
  readonly message: string
}

const NODE_LIMIT = 500_000
const PAGE_LIMIT = 100

/**
 * Calculates the cost of an operation. Defaults must be filled into `variables`.
 * https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api
 */
export function costOf(
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Record<string, unknown>,
): Cost {
  const fragments = new Map(
    document.definitions.flatMap((each) =>
      each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each] as const] : [],
    ),
  )
  const problems: CostProblem[] = []
  let requests = 0
  let nodes = 0

  const argumentOf = (field: FieldNode, name: string): unknown => {
    const value = field.arguments?.find((each) => each.name.value === name)?.value
    if (value?.kind === Kind.VARIABLE) return variables[value.name.value]
    if (value?.kind === Kind.LIST) return value.values
    return value?.kind === Kind.INT ? Number(value.value) : undefined
  }
  const asksForNodes = (field: FieldNode): boolean => {
    const visit = (set: SelectionSetNode | undefined): boolean =>
      set?.selections.some((each) =>
        each.kind === Kind.FIELD
          ? each.name.value === 'nodes' || each.name.value === 'edges'
          : visit(
              each.kind === Kind.INLINE_FRAGMENT ? each.selectionSet : fragments.get(each.name.value)?.selectionSet,
            ),
      ) ?? false
    return visit(field.selectionSet)
  }
  const walk = (set: SelectionSetNode, parent: GraphQLCompositeType, multiplier: number): void => {
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) walkField(selection, parent, multiplier)
      else {
        const fragment = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments.get(selection.name.value)!
        const name = fragment.typeCondition?.name.value
        walk(
          fragment.selectionSet,
          name === undefined ? parent : (githubSchema().getType(name) as GraphQLCompositeType),
          multiplier,
        )
      }
    }
  }
  const walkField = (field: FieldNode, parent: GraphQLCompositeType, multiplier: number): void => {
    if (!isObjectType(parent) && !isInterfaceType(parent)) return
    const definition = parent.getFields()[field.name.value]
    const type = definition === undefined ? undefined : getNamedType(definition.type)
    if (definition === undefined || !isCompositeType(type) || field.selectionSet === undefined) return
    let inner = multiplier
    if (type.name.endsWith('Connection') && definition.args.some((each) => each.name === 'first')) {
      const size = argumentOf(field, 'first') ?? argumentOf(field, 'last')
      requests += multiplier
      if (typeof size === 'number') {
        problems.push(...sizeProblems(field, size, argumentOf(field, 'first') === undefined ? 'last' : 'first'))
        nodes += multiplier * size
        inner = multiplier * size
      } else if (asksForNodes(field)) {
        problems.push({
          type: 'MISSING_PAGINATION_BOUNDARIES',
          message: `You must provide a \`first\` or \`last\` value to properly paginate the \`${field.name.value}\` connection.`,
        })
      }
    } else if (field.name.value === 'nodes' && parent.name === 'Query') {
      const ids = argumentOf(field, 'ids')
      inner = Array.isArray(ids) ? ids.length : 1
      nodes += inner
    }
    walk(field.selectionSet, type, inner)
  }
  walk(operation.selectionSet, githubSchema().getQueryType()!, 1)
  if (nodes > NODE_LIMIT)
    problems.push({
      type: 'MAX_NODE_LIMIT_EXCEEDED',
      message: `This query requests up to ${nodes.toLocaleString('en-US')} possible nodes which exceeds the maximum limit of ${NODE_LIMIT.toLocaleString('en-US')}.`,
    })
  return { points: Math.max(1, Math.round(requests / 100)), nodes, problems }
}

function sizeProblems(field: FieldNode, size: number, argument: string): CostProblem[] {
  const connection = `\`${field.name.value}\` connection`
  if (size > PAGE_LIMIT)
    return [
      {
        type: 'EXCESSIVE_PAGINATION',
        message: `Requesting ${size} records on the ${connection} exceeds the \`${argument}\` limit of ${PAGE_LIMIT} records.`,
      },
    ]
  if (size < 1)
    return [
      { type: 'EXCESSIVE_PAGINATION', message: `\`${argument}\` on the ${connection} must be between 1 and 100.` },
    ]
  return []
}
