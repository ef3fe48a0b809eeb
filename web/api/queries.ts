import { MutationCache, QueryCache, QueryClient, queryOptions } from '@tanstack/react-query'
import { type AnswerTo, ask, type Given, type NoOthers, type Operation, Refused } from './ask.ts'

/** If the server refuses a request once, it refuses it again. Only a missing answer is worth another attempt. */
const isWorthAnother = (attempts: number, error: Error) =>
  attempts < 3 && error instanceof Refused && error.status === 0

/** If the session has ended, asking for the user again makes the frame show the sign-in page. */
function onError(error: Error) {
  if (error instanceof Refused && error.status === 401) void refresh('GET /v1/access')
}

export const queries = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: { queries: { retry: isWorthAnother, staleTime: 5_000, refetchOnWindowFocus: true } },
})

/** A request as a TanStack query; its key is the operation with its parameters. */
export const question = <Name extends Operation, Sent extends Given<Name>>(
  operation: Name,
  given?: Sent & NoOthers<Sent, Given<Name>>,
) =>
  queryOptions<AnswerTo<Name>>({
    queryKey: [operation, given ?? null],
    queryFn: ({ signal }) => (ask as (...all: unknown[]) => Promise<AnswerTo<Name>>)(operation, given, signal),
  })

/** Call this after a change: asks again for everything that may show it. */
export const refresh = (...operations: readonly Operation[]) =>
  Promise.all(operations.map((operation) => queries.invalidateQueries({ queryKey: [operation] })))
