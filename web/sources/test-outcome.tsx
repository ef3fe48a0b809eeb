import type { UseMutationResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { counted } from '../parts/words.ts'
import type { TestResult, TokenResult } from './asked.ts'

interface TestOutcomeProps {
  readonly test: Pick<UseMutationResult<TestResult, Error, any>, 'data' | 'error' | 'isPending'>
  /** The problem is already shown at its field. */
  readonly isHidden?: boolean
  /** A setting was changed since the test. */
  readonly isOld?: boolean
}

/** Shows the result of a connection test, for each token if there are several. */
export function TestOutcome({ test: { data, error, isPending }, isHidden = false, isOld = false }: TestOutcomeProps) {
  if (isPending || isHidden) return null
  if (error) return <Outcome isGood={false}>{error.message}</Outcome>
  if (!data || isOld) return null
  const { success, message, login, warning, requestsLeft, tokens = [] } = data
  const left = requestsLeft === undefined ? '' : ` ${counted(requestsLeft, 'request')} left for now.`
  if (tokens.length > 1) return <Tokens tokens={tokens} left={left} />
  if (!success) return <Outcome isGood={false}>{tokens[0]?.message ?? message}</Outcome>
  const who = login ?? tokens[0]?.login
  const isLimited = warning ?? tokens[0]?.warning
  return (
    <Outcome isGood>
      It works{who && ` as ${who}`}.
      {isLimited && ' It sees less than it could: compare its rights with those on this page.'}
      {left}
    </Outcome>
  )
}

function Outcome({ isGood, children }: { readonly isGood: boolean; readonly children: ReactNode }) {
  return (
    <p className={`outcome ${isGood ? 'good' : 'bad'}`} role={isGood ? 'status' : 'alert'}>
      {children}
    </p>
  )
}

function Tokens({ tokens, left }: { readonly tokens: readonly TokenResult[]; readonly left: string }) {
  const working = tokens.filter(({ success }) => success).length
  return (
    <div className={`outcome ${working === tokens.length ? 'good' : 'bad'}`} role="status">
      <p>
        {working === tokens.length
          ? `All ${counted(tokens.length, 'token')} work.${left}`
          : `${working} of ${counted(tokens.length, 'token')} work: remove or replace the others.`}
      </p>
      <ul className="tokens small">
        {tokens.map(({ token, success, login, message, warning }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: masked tokens may look the same
          <li key={index}>
            <code className="mono">{token}</code>{' '}
            {success ? (
              <span className="good">
                works as {login}
                {warning && ', but sees less than it could'}
              </span>
            ) : (
              <span className="bad">{message}</span>
            )}
          </li>
        ))}
      </ul>
    </div>
  )
}
