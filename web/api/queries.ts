import { MutationCache, QueryCache, QueryClient, queryOptions } from '@tanstack/react-query'
import { type AnswerTo, ask, type Given, type NoOthers, type Operation, Refused } from './ask.ts'

/** What the server refuses it refuses again; only silence is worth another attempt. */
const isWorthAnother = (attempts: number, error: Error) =>
  attempts < 3 && error instanceof Refused && error.status === 0

/** A session that ended: the frame asks who looks at it, and shows the page to sign in on. */
function onError(error: Error) {
  if (error instanceof Refused && error.status === 401) void refresh('GET /v1/access')
}

export const queries = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: { queries: { retry: isWorthAnother, staleTime: 5_000, refetchOnWindowFocus: true } },
})

/** A question to the server as TanStack Query takes it, kept under its own words. */
export const question = <Name extends Operation, Sent extends Given<Name>>(
  operation: Name,
  given?: Sent & NoOthers<Sent, Given<Name>>,
) =>
  queryOptions<AnswerTo<Name>>({
    queryKey: [operation, given ?? null],
    queryFn: ({ signal }) => (ask as (...all: unknown[]) => Promise<AnswerTo<Name>>)(operation, given, signal),
  })

/** After a change: all that may show it is asked again. */
export const refresh = (...operations: readonly Operation[]) =>
  Promise.all(operations.map((operation) => queries.invalidateQueries({ queryKey: [operation] })))
