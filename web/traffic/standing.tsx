/** The present status of a switch: what is planned and what is in force, for each route, and what comes next. */
import { Button } from '@mantine/core'
import { useState } from 'react'
import { counted, exactly } from '../parts/words.ts'
import { Confirm } from './actions.tsx'
import { Split, type Status, type Switch, sameShare, shareOfText, stepText, upper } from './describe.tsx'

export function Standing({ of, status }: { readonly of: Switch; readonly status: Status }) {
  const { routes, next, working } = status
  const hasRules = routes.some(({ planned }) => planned !== null)
  return (
    <section className="card" aria-labelledby="standing">
      <h2 id="standing" style={{ marginBottom: 8 }}>
        Now
      </h2>
      {status.problem && (
        <p role="alert" className="bad" style={{ overflowWrap: 'anywhere' }}>
          It cannot be read now: {status.problem}
        </p>
      )}
      {hasRules && <Routes routes={routes} told={status.problem} />}
      <dl className="live">
        {status.step && (
          <>
            <dt>Step</dt>
            <dd>{stepText(status.step)}</dd>
          </>
        )}
        {working && (
          <>
            <dt>At work</dt>
            <dd>{working}</dd>
          </>
        )}
        {status.clock && (
          <>
            <dt>Clock</dt>
            <dd>
              <span className="tag attention">wrong</span> {upper(status.clock)}.
            </dd>
          </>
        )}
        <dt>Next</dt>
        <dd>
          {next.says}
          {next.at && (
            <span className="quiet">
              {' '}
              (at{' '}
              <time dateTime={next.at} title={exactly(next.at)}>
                {new Date(next.at).toLocaleTimeString('en-GB').slice(0, 5)}
              </time>
              )
            </span>
          )}
        </dd>
      </dl>
      {status.drift && <Drift of={of} says={status.drift} />}
    </section>
  )
}

interface RoutesProps {
  readonly routes: Status['routes']
  /** The problem that is already shown above the routes. */
  readonly told: Status['problem']
}

function Routes({ routes, told }: RoutesProps) {
  return (
    <ul className="routes">
      {routes.map(({ route, planned, isAsPlanned, share, says, health, problem }) => (
        <li key={route} aria-label={`Route ${route}`}>
          <strong className="cut" title={route}>
            {route}
          </strong>
          <span className="pair">
            <span className="small faint">planned</span>
            {planned === null ? <span /> : <Split share={sameShare(shareOfText(planned))} />}
            <span className="small number">{planned ?? 'nothing'}</span>
            <span className="small faint">in force</span>
            <Split share={share} height={12} />
            <span className={`small number ${isAsPlanned === false ? 'bad' : ''}`}>
              {problem !== null && problem === told ? 'not known' : inForce(says)}
            </span>
          </span>
          <span className="small quiet number">
            {health
              ? `${health.healthy} of ${counted(health.total, 'target')} healthy${health.draining > 0 ? `, ${health.draining} draining` : ''}`
              : 'targets not known'}
          </span>
        </li>
      ))}
    </ul>
  )
}

/** Leaves out the planned split, which is already shown above. */
const inForce = (says: string): string => says.replace(/; planned .*$/, '')

/** Shows what is there instead, and the three ways to continue. */
function Drift({ of, says }: { readonly of: Switch; readonly says: string }) {
  const [isAccepted, setAccepted] = useState(false)
  // After the two values, the text lists ways to continue in the terminal; here they are buttons.
  const [first = '', ...rest] = says.split('\n')
  const values = rest.filter((line) => line.startsWith(' ')).map((line) => line.trim())
  return (
    <div className="notice drift" role="alert">
      <p>
        <strong>Something else stands there than Weir wrote.</strong> {upper(first.replace('Drift: ', ''))}
      </p>
      {values.length > 0 && (
        <details>
          <summary>Both values</summary>
          <pre className="code wrap">{values.join('\n')}</pre>
        </details>
      )}
      <ul>
        <li>If somebody is mending something: put the value back, then advance.</li>
        <li>If what stands there is right: continue from it. You are asked for a reason.</li>
        <li>If you are not sure: roll back. It writes over whatever stands there.</li>
      </ul>
      {of.actions.includes('advance') && (
        <Button variant="default" onClick={() => setAccepted(true)}>
          Continue from what is live
        </Button>
      )}
      {isAccepted && <Confirm of={of} action="accept" onClose={() => setAccepted(false)} />}
    </div>
  )
}
