/** How a switch stands now: what is planned against what is in force, route by route, and what comes next. */
import { Button } from '@mantine/core'
import { useState } from 'react'
import { Moment } from '../parts/parts.tsx'
import { Confirm } from './actions.tsx'
import { Split, type Status, type Switch, shareOfText } from './describe.tsx'

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
      {hasRules && <Routes routes={routes} />}
      <dl className="live">
        {status.step && (
          <>
            <dt>Step</dt>
            <dd>{status.step}</dd>
          </>
        )}
        {working && (
          <>
            <dt>At work</dt>
            <dd>{working}</dd>
          </>
        )}
        <dt>Next</dt>
        <dd>
          {next.says}
          {next.at && (
            <span className="quiet">
              {' '}
              (<Moment at={next.at} />, at {new Date(next.at).toLocaleTimeString('en-GB').slice(0, 5)})
            </span>
          )}
        </dd>
      </dl>
      {status.drift && <Drift of={of} says={status.drift} />}
    </section>
  )
}

function Routes({ routes }: Pick<Status, 'routes'>) {
  return (
    <ul className="routes">
      {routes.map(({ route, planned, isAsPlanned, share, says, health }) => (
        <li key={route} aria-label={`Route ${route}`}>
          <strong className="cut" title={route}>
            {route}
          </strong>
          <span className="pair">
            <span className="small faint">planned</span>
            {planned === null ? <span /> : <Split share={sameShare(shareOfText(planned))} height={6} />}
            <span className="small number">{planned ?? 'nothing'}</span>
            <span className="small faint">in force</span>
            <Split share={share} height={12} />
            <span className={`small number ${isAsPlanned === false ? 'bad' : ''}`}>{inForce(says)}</span>
          </span>
          <span className="small quiet number">
            {health
              ? `${health.healthy} of ${health.total} healthy${health.draining > 0 ? `, ${health.draining} draining` : ''}`
              : 'targets not known'}
          </span>
        </li>
      ))}
    </ul>
  )
}

const sameShare = (share: number) => ({ least: share, most: share })
/** What is planned stands above it. */
const inForce = (says: string): string => says.replace(/; planned .*$/, '')

/** What stands there instead, and the three ways on. */
function Drift({ of, says }: { readonly of: Switch; readonly says: string }) {
  const [isAccepted, setAccepted] = useState(false)
  const [first, ...rest] = says.split('\n')
  return (
    <div className="notice drift" role="alert">
      <p>
        <strong>Something else stands there than Weir wrote.</strong> {first}
      </p>
      {rest.length > 0 && <pre className="code wrap">{rest.join('\n')}</pre>}
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
