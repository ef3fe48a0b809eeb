import {
  type ExecutionResult,
  execute,
  GraphQLError,
  type GraphQLFieldResolver,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
} from 'graphql'
import { type Cost, costOf } from './cost.ts'
import type { Context, Resolvers } from './nodes.ts'
import {
  commentResolvers,
  commitResolvers,
  issueResolvers,
  labelResolvers,
  milestoneResolvers,
  pullRequestResolvers,
  reviewCommentResolvers,
  reviewResolvers,
} from './resolve-changes.ts'
import {
  checkRunResolvers,
  checkSuiteResolvers,
  deploymentResolvers,
  deploymentStatusResolvers,
  releaseResolvers,
  workflowRunResolvers,
} from './resolve-deliveries.ts'
import { botResolvers, organisationResolvers, queryResolvers, userResolvers } from './resolve-query.ts'
import { repositoryResolvers } from './resolve-repository.ts'
import { checkedDocument, githubSchema } from './schema.ts'

const RESOLVERS: Readonly<Record<string, Resolvers<any>>> = {
  Query: queryResolvers,
  Repository: repositoryResolvers,
  Issue: issueResolvers,
  PullRequest: pullRequestResolvers,
  Commit: commitResolvers,
  PullRequestReview: reviewResolvers,
  PullRequestReviewComment: reviewCommentResolvers,
  IssueComment: commentResolvers,
  Label: labelResolvers,
  Milestone: milestoneResolvers,
  CheckSuite: checkSuiteResolvers,
  WorkflowRun: workflowRunResolvers,
  CheckRun: checkRunResolvers,
  Deployment: deploymentResolvers,
  DeploymentStatus: deploymentStatusResolvers,
  Release: releaseResolvers,
  User: userResolvers,
  Bot: botResolvers,
  Organization: organisationResolvers,
}

export interface GraphqlBody {
  readonly query: string
  readonly variables?: Record<string, unknown> | null
  readonly operationName?: string | null
}
/** A query that GitHub would run with its price, or GitHub's refusal. */
export type Prepared =
  | {
      readonly run: (context: Omit<Context, 'cost'>) => ExecutionResult
      readonly cost: Cost
      readonly operation: string
    }
  | { readonly refused: readonly object[] }

export function prepareGraphql({ query, variables, operationName }: GraphqlBody): Prepared {
  const document = checkedDocument(query)
  if (!('kind' in document)) return { refused: document.map(formatted) }
  const operations = document.definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION)
  const operation: OperationDefinitionNode | undefined =
    operationName == null ? operations[0] : operations.find((each) => each.name?.value === operationName)
  if (operation === undefined) return { refused: [{ message: `No operation named "${operationName}"` }] }
  const { coerced, errors } = getVariableValues(githubSchema(), operation.variableDefinitions ?? [], variables ?? {})
  if (errors !== undefined) return { refused: errors.map(formatted) }
  const cost = costOf(document, operation, coerced)
  if (cost.problems.length > 0) return { refused: cost.problems }
  return {
    cost,
    operation: operation.name?.value ?? 'anonymous',
    run: (context) =>
      execute({
        schema: githubSchema(),
        document,
        rootValue: {},
        contextValue: { ...context, cost },
        variableValues: variables,
        operationName,
        fieldResolver: resolveField,
        typeResolver: (value: any) => value.type,
      }) as ExecutionResult,
  }
}

const resolveField: GraphQLFieldResolver<any, Context> = (source, args, context, { parentType, fieldName }) => {
  const resolver = RESOLVERS[parentType.name]?.[fieldName]
  const isRecord = parentType.name === 'Query' || source.record !== undefined
  if (resolver !== undefined && isRecord) return resolver(source, args, context)
  const value = (source.record ?? source)[fieldName]
  if (value === undefined) throw new GraphQLError(`The fake GitHub does not serve ${parentType.name}.${fieldName}`)
  return typeof value === 'function' ? value() : value
}

/** Formats an error as GitHub does, with its type next to the message. */
export function formatted(error: GraphQLError): object {
  const { type, ...extensions } = error.extensions
  return {
    ...(type !== undefined && { type }),
    ...(error.path !== undefined && { path: error.path }),
    ...(Object.keys(extensions).length > 0 && { extensions }),
    locations: error.locations,
    message: error.message,
  }
}

/** Errors that GitHub's own data never cause: wrong variables, or something that the fake does not support. */
export const isViolation = (error: GraphQLError): boolean => error.extensions.type === undefined
