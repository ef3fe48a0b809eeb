/** When AWS answered last, in milliseconds, by its own clock, because that of this machine may be wrong. */
export interface AnswerClock {
  last: number | undefined
  /** When that answer arrived, by a clock of ours that nobody sets. */
  heard: number
  /** The last answer that showed rules of a load balancer. */
  rules: number | undefined
}
export const answerClock = (): AnswerClock => ({ last: undefined, heard: 0, rules: undefined })

interface Answered {
  readonly response?: { readonly headers?: Readonly<Record<string, string>> }
}
type Next = (args: unknown) => Promise<Answered>
type Middleware = (next: Next, context: { readonly commandName?: string }) => Next
interface AnyClient {
  readonly middlewareStack: object
}
/** Each client has a type of its own for what is the same in all of them. */
interface Stack {
  add(middleware: Middleware, options: { readonly step: 'initialize'; readonly name: string }): void
}

const DENIED = /^(?:AccessDenied\w*|UnauthorizedOperation|AuthorizationError\w*|NotAuthorized\w*)$/

/** Notes the time of each answer, and the right that was missing where AWS refused a call. */
export function observed<Client extends AnyClient>(client: Client, service: string, clock?: AnswerClock): Client {
  const observe: Middleware = (next, { commandName = '' }) => {
    const call = commandName.replace(/Command$/, '')
    const noteTime = (response: Answered['response']): void => {
      const time = Date.parse(response?.headers?.date ?? '')
      if (clock === undefined || Number.isNaN(time)) return
      clock.last = time
      clock.heard = performance.now()
      if (call === 'DescribeRules') clock.rules = time
    }
    return async (args) => {
      try {
        const answer = await next(args)
        noteTime(answer.response)
        return answer
      } catch (error) {
        // Also who says no, or that something is not there, says when.
        noteTime((error as { readonly $response?: Answered['response'] }).$response)
        if (error instanceof Error && DENIED.test(error.name))
          Object.assign(error, { missingRight: `${service}:${call}` })
        throw error
      }
    }
  }
  const stack = client.middlewareStack as Stack
  stack.add(observe, { step: 'initialize', name: 'weirObserved' })
  return client
}

export const missingRightOf = (error: unknown): string | undefined =>
  (error as { readonly missingRight?: string }).missingRight
