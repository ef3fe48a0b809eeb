/** The time of AWS's last answer, in milliseconds, by AWS's own clock, because that of this machine may be wrong. */
export interface AnswerClock {
  last: number | undefined
  /** The arrival of that answer, by a clock of this process that nobody can set. */
  heard: number
  /** The time of the last answer that showed rules of a load balancer. */
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
/** Each client declares a separate type for what is the same in all of them. */
interface Stack {
  add(middleware: Middleware, options: { readonly step: 'initialize'; readonly name: string }): void
}

const DENIED = /^(?:AccessDenied\w*|UnauthorizedOperation|AuthorizationError\w*|NotAuthorized\w*)$/

/** Notes the time of each answer, and the missing permission if AWS refuses a call. */
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
        // An answer that refuses, or that finds nothing, carries a time as well.
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
