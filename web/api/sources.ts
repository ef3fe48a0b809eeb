import type { AnswerTo } from './ask.ts'
import { question } from './queries.ts'

/** A source as the server describes it. */
export type Source = AnswerTo<'GET /v1/sources'>[number]

/** Sources that Weir queries; push sources have their own pages. The list changes only with the version of the server. */
export const askedSources = {
  ...question('GET /v1/sources'),
  staleTime: Number.POSITIVE_INFINITY,
  select: (all: readonly Source[]) => all.filter(({ isPushed }) => !isPushed),
}

/** Schema of a setting that is JSON. */
export interface JsonSchema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly items?: JsonSchema
  readonly anyOf?: readonly JsonSchema[]
}
