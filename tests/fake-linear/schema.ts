/** The part of Linear's schema that the plugin uses. tests/fake-linear/contract.test.ts compares it with `@linear/sdk`. */
export const SCHEMA = `
scalar DateTime
scalar TimelessDate
enum PaginationOrderBy { createdAt updatedAt }
input StringComparator { containsIgnoreCase: String, eqIgnoreCase: String }
input TeamFilter { or: [TeamFilter!], name: StringComparator, key: StringComparator }
type PageInfo { hasNextPage: Boolean!, endCursor: String }
type User { id: ID!, name: String!, displayName: String!, email: String!, avatarUrl: String, active: Boolean! }
type UserConnection { nodes: [User!]!, pageInfo: PageInfo! }
type WorkflowState { id: ID!, name: String!, type: String!, color: String!, position: Float! }
type WorkflowStateConnection { nodes: [WorkflowState!]!, pageInfo: PageInfo! }
type Cycle { id: ID!, number: Float!, name: String, startsAt: DateTime!, endsAt: DateTime!, completedAt: DateTime }
type CycleConnection { nodes: [Cycle!]!, pageInfo: PageInfo! }
type IssueLabel { id: ID!, name: String! }
type IssueLabelConnection { nodes: [IssueLabel!]!, pageInfo: PageInfo! }
type IssueRelation { id: ID!, type: String!, relatedIssue: Issue! }
type IssueRelationConnection { nodes: [IssueRelation!]!, pageInfo: PageInfo! }
type Comment { id: ID!, body: String!, createdAt: DateTime!, updatedAt: DateTime!, user: User }
type CommentConnection { nodes: [Comment!]!, pageInfo: PageInfo! }
type IssueHistory { id: ID!, createdAt: DateTime!, actor: User, fromState: WorkflowState, toState: WorkflowState }
type IssueHistoryConnection { nodes: [IssueHistory!]!, pageInfo: PageInfo! }
type Issue {
  id: ID!, identifier: String!, number: Float!, title: String!, description: String, url: String!, priority: Float!
  estimate: Float, dueDate: TimelessDate, trashed: Boolean, createdAt: DateTime!, updatedAt: DateTime!
  startedAt: DateTime, completedAt: DateTime, canceledAt: DateTime
  state: WorkflowState!, assignee: User, creator: User, cycle: Cycle, parent: Issue
  labels(first: Int, after: String): IssueLabelConnection!
  relations(first: Int, after: String): IssueRelationConnection!
  comments(first: Int, after: String): CommentConnection!
  history(first: Int, after: String): IssueHistoryConnection!
}
type IssueConnection { nodes: [Issue!]!, pageInfo: PageInfo! }
type Team {
  id: ID!, name: String!, key: String!, description: String
  states(first: Int, after: String): WorkflowStateConnection!
  cycles(first: Int, after: String, includeArchived: Boolean): CycleConnection!
  issues(first: Int, after: String, includeArchived: Boolean, orderBy: PaginationOrderBy): IssueConnection!
}
type TeamConnection { nodes: [Team!]!, pageInfo: PageInfo! }
type Query {
  viewer: User!
  users(first: Int, after: String, includeDisabled: Boolean): UserConnection!
  teams(first: Int, after: String, filter: TeamFilter): TeamConnection!
  team(id: String!): Team!
  issue(id: String!): Issue!
}
`
