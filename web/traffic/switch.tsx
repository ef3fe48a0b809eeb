import '../settings/settings.css'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { question } from '../api/queries.ts'
import { useMay } from '../frame/sign-in.tsx'
import { Asked, Moment, Page } from '../parts/parts.tsx'
import { Actions } from './actions.tsx'
import { dwellWords, gateWords, planOf, StateTag, type Switch, shareNow, shareOf, Weights } from './describe.tsx'
import { LiveSplit } from './live.tsx'

const place = getRouteApi('/traffic/$id')
const EVERY_MS = 3_000

export function SwitchPage() {
  const { id } = place.useParams()
  const found = useQuery({
    ...question('GET /v1/traffic-switches/{id}', { path: { id } }),
    refetchInterval: ({ state }) => (state.data?.state === 'cleaned-up' ? false : EVERY_MS),
  })
  const isOperator = useMay('operator')
  return (
    <Page title={found.data?.name ?? id} says={found.data ? <Summary of={found.data} /> : 'A traffic switch.'}>
      <Asked of={found}>
        {(data) => (
          <div className="sections">
            {data.problem && (
              <div className="notice" role="alert" style={{ margin: 0 }}>
                <span style={{ overflowWrap: 'anywhere' }}>{data.problem}</span>
              </div>
            )}
            {isOperator && <Actions of={data} />}
            <LiveSplit of={data} />
            <Steps of={data} />
            <Gates of={data} />
            <Journal id={data.id} isOver={data.state === 'cleaned-up'} />
          </div>
        )}
      </Asked>
    </Page>
  )
}

function Summary({ of }: { readonly of: Switch }) {
  const { current, target, routes = [] } = planOf(of)
  return (
    <>
      <StateTag state={of.state} /> For project {of.project}
      {routes.length > 0 && <>, routes {routes.map(({ name }) => name).join(', ')}</>}: {Math.round(shareNow(of) * 100)}{' '}
      % of requests go to {target?.cluster ?? 'the target'}, the rest to {current?.cluster ?? 'the current cluster'}.
    </>
  )
}

const UNDER_WAY = ['prepared', 'shifting', 'paused']

function Steps({ of }: { readonly of: Switch }) {
  const { steps, current, target } = planOf(of)
  if (steps.length === 0) return null
  return (
    <section className="card" aria-labelledby="steps">
      <h2 id="steps" style={{ marginBottom: 8 }}>
        Steps
      </h2>
      <ol className="steps">
        {steps.map((step, index) => (
          <li
            // biome-ignore lint/suspicious/noArrayIndexKey: steps have no other name
            key={index}
            {...(index === of.step && UNDER_WAY.includes(of.state) && { 'aria-current': 'step' })}
          >
            <span className="number faint">{index + 1}</span>
            <Weights share={shareOf(step)} current={current?.cluster} target={target?.cluster} />
            <span className="quiet">
              {dwellWords(step)}
              {step.gates.length > 0 && (
                <>
                  , continues when {step.gates.map(gateWords).join(' and ')};{' '}
                  {step.onFail === 'rollback' ? 'rolls back otherwise' : 'pauses otherwise'}
                </>
              )}
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
}

const VERDICTS = {
  pass: ['good', 'passed'],
  fail: ['bad', 'failed'],
  inconclusive: ['attention', 'not sure'],
  pending: ['', 'waits'],
} as const

/** Asked of the clusters themselves, so only where a step is in force. */
function Gates({ of }: { readonly of: Switch }) {
  const isInForce = UNDER_WAY.includes(of.state)
  const gates = useQuery({
    ...question('GET /v1/traffic-switches/{id}/gates', { path: { id: of.id } }),
    enabled: isInForce,
    refetchInterval: 15_000,
  })
  if (!isInForce) return null
  return (
    <section className="card" aria-labelledby="gates">
      <h2 id="gates" style={{ marginBottom: 8 }}>
        Gates of this step
      </h2>
      <Asked of={gates} lines={2}>
        {(all) =>
          all.length === 0 ? (
            <p className="quiet">None: the next step may be taken when the time of this one is over.</p>
          ) : (
            <table className="plain">
              <tbody>
                {all.map(({ gate, verdict, message }, index) => {
                  const [look, word] = VERDICTS[verdict]
                  return (
                    // biome-ignore lint/suspicious/noArrayIndexKey: two gates may have one name
                    <tr key={index}>
                      <td style={{ width: 110 }}>
                        <span className={`tag ${look}`}>{word}</span>
                      </td>
                      <td>{gate}</td>
                      <td className="quiet">{message}</td>
                    </tr>
                  )
                })}
              </tbody>
            </table>
          )
        }
      </Asked>
    </section>
  )
}

function Journal({ id, isOver }: { readonly id: string; readonly isOver: boolean }) {
  const journal = useQuery({
    ...question('GET /v1/traffic-switches/{id}/journal', { path: { id } }),
    refetchInterval: isOver ? false : EVERY_MS,
  })
  return (
    <section className="card" aria-labelledby="journal">
      <h2 id="journal" style={{ marginBottom: 8 }}>
        Journal
      </h2>
      <Asked of={journal}>
        {(entries) => (
          <div className="scroll">
            <table className="plain">
              <thead>
                <tr>
                  <th>When</th>
                  <th>Who</th>
                  <th>Action</th>
                  <th>What happened</th>
                </tr>
              </thead>
              <tbody>
                {[...entries].reverse().map(({ sequence, at, actor, action, kind, effect, detail }) => (
                  <tr key={sequence}>
                    <td style={{ whiteSpace: 'nowrap' }}>
                      <Moment at={at} />
                    </td>
                    <td className="cut" style={{ maxWidth: 180 }} title={actor}>
                      {actor}
                    </td>
                    <td>{action}</td>
                    <td style={{ overflowWrap: 'anywhere' }}>
                      <span className={kind === 'failure' ? 'tag bad' : 'tag'}>{kind}</span> {effect}{' '}
                      <span className="quiet">{detail}</span>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Asked>
    </section>
  )
}
