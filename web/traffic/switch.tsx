import '../settings/settings.css'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import type { AnswerTo } from '../api/ask.ts'
import { question } from '../api/queries.ts'
import { useMay } from '../frame/sign-in.tsx'
import { Asked, Moment, Page } from '../parts/parts.tsx'
import { duration } from '../parts/words.ts'
import { Actions, RollBack } from './actions.tsx'
import {
  isOver,
  namesOf,
  planOf,
  Split,
  type Status,
  type Switch,
  sameShare,
  shareOfText,
  upper,
  useStatus,
} from './describe.tsx'
import { DraftPlan, Preflight } from './draft.tsx'
import { Course, RequestsCard } from './live.tsx'
import { Standing } from './standing.tsx'

const place = getRouteApi('/traffic/$id')
const EVERY_MS = 3_000

export function SwitchPage() {
  const { id } = place.useParams()
  const found = useQuery({
    ...question('GET /v1/traffic-switches/{id}', { path: { id } }),
    refetchInterval: ({ state }) => (state.data && isOver(state.data.state) ? false : EVERY_MS),
  })
  return (
    <Page title={found.data?.name ?? id} says={found.data ? <Summary of={found.data} /> : 'A traffic switch.'}>
      <Asked of={found}>{(data) => <Sections of={data} />}</Asked>
    </Page>
  )
}

function Summary({ of }: { readonly of: Switch }) {
  const { routes = [] } = planOf(of)
  const { here, there } = namesOf(of)
  return (
    <>
      From {here} to {there}, for project {of.project}
      {routes.length > 0 && <>, routes {routes.map(({ name }) => name).join(', ')}</>}
    </>
  )
}

function Sections({ of }: { readonly of: Switch }) {
  const isOperator = useMay('operator')
  const status = useStatus(of, EVERY_MS)
  const journal = useQuery({
    ...question('GET /v1/traffic-switches/{id}/journal', { path: { id: of.id } }),
    refetchInterval: isOver(of.state) ? false : EVERY_MS,
  })
  // If the status cannot be read, the share is unknown.
  const share = status.isError ? null : status.data?.share
  return (
    <div className="sections">
      <Asked of={status} lines={2}>
        {(data) => (
          <section className="headline" aria-label="Headline">
            <p>{data.headline}</p>
            <Split share={data.share} height={16} />
          </section>
        )}
      </Asked>
      {isOperator && <RollBack of={of} share={share} />}
      {of.problem && !status.data?.drift && (
        <div className="notice" role="alert" style={{ margin: 0 }}>
          <span style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-line' }}>{upper(of.problem)}</span>
        </div>
      )}
      {status.data && <Standing of={of} status={status.data} />}
      {status.data && <Gates status={status.data} />}
      {of.state === 'draft' && isOperator && <Preflight of={of} />}
      {isOperator && <Actions of={of} share={share} />}
      {of.state === 'draft' && isOperator && <DraftPlan of={of} />}
      <RequestsCard of={of} />
      {status.data && <Steps steps={status.data.steps} of={of} />}
      <Course of={of} share={status.data?.share ?? null} entries={journal.data ?? []} />
      <section className="card" aria-labelledby="journal">
        <h2 id="journal" style={{ marginBottom: 8 }}>
          Journal
        </h2>
        <Asked of={journal}>{(entries) => <Journal entries={entries} />}</Asked>
      </section>
    </div>
  )
}

const STEP_WORDS: Readonly<Record<Status['steps'][number]['status'], readonly [word: string, look: string]>> = {
  ahead: ['', ''],
  'under-way': ['under way', 'accent'],
  'in-force': ['in force', 'good'],
  'not-in-force': ['not in force', 'bad'],
  'not-known': ['not known', 'attention'],
  passed: ['done', ''],
}

function Steps({ of, steps }: { readonly of: Switch; readonly steps: Status['steps'] }) {
  const { here, there } = namesOf(of)
  if (steps.length === 0) return null
  return (
    <section className="card" aria-labelledby="steps">
      <h2 id="steps">Steps</h2>
      <p className="quiet small" style={{ margin: '4px 0 8px' }}>
        Weights of {here}/{there}. Step 0 prepares.
      </p>
      <ol className="steps">
        {steps.map(({ number, weights, status, dwellSeconds, gates, onFail }) => {
          const [word, look] = STEP_WORDS[status]
          const isPresent = !['ahead', 'passed'].includes(status)
          return (
            <li key={number} {...(isPresent && { 'aria-current': 'step' as const })}>
              <span className="number faint">{number}</span>
              <span className="step-split">
                <Split share={sameShare(shareOfText(weights))} />
                <span className="small number">{weights}</span>
              </span>
              <span>{word && <span className={`tag ${look}`}>{word}</span>}</span>
              <span className="quiet">
                {dwellSeconds === 0 ? 'no waiting' : `stays ${duration(dwellSeconds / 60)} at least`}
                {gates.length > 0 && (
                  <>
                    , continues when {gates.join(' and ')}; {onFail === 'rollback' ? 'rolls back' : 'pauses'} otherwise
                  </>
                )}
              </span>
            </li>
          )
        })}
      </ol>
    </section>
  )
}

const VERDICTS = {
  pass: ['good', 'passed'],
  fail: ['bad', 'failed'],
  inconclusive: ['attention', 'not sure'],
  pending: ['', 'not yet'],
} as const

/** Asks the clusters themselves, so it is shown only while a step is in force. */
function Gates({ status: { gates, next } }: { readonly status: Status }) {
  if (gates.length === 0) return null
  return (
    <section className="card" aria-labelledby="gates">
      <h2 id="gates" style={{ marginBottom: 8 }}>
        Gates of this step
      </h2>
      <ul className="gates">
        {gates.map(({ gate, verdict, message, asks }, index) => {
          const [look, word] = VERDICTS[verdict]
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: two gates may have one name
            <li key={index} aria-label={`Gate ${gate}`}>
              <span>
                <span className={`tag ${look}`}>{word}</span>
              </span>
              <span>
                {message}
                <span className="small faint"> · asks: {asks}</span>
              </span>
              <span className="small quiet">
                {gate}
                {next.gate === gate && <strong> decides</strong>}
              </span>
            </li>
          )
        })}
      </ul>
    </section>
  )
}

type Entries = AnswerTo<'GET /v1/traffic-switches/{id}/journal'>

const FIRST_ENTRIES = 12

/** The failure of an effect is repeated by the problem of its action, which comes right after it and also says what to do. */
const isToldAgain = (entry: Entries[number], next: Entries[number] | undefined): boolean =>
  entry.kind === 'failure' && next?.effect === 'problem' && next.detail.includes(entry.detail)

/** Stored values fill the page, so they are shown only if the user opens them. */
function Sentence({ of }: { readonly of: string }) {
  const [first, ...rest] = of.split('\n')
  if (rest.length === 0) return <>{of}</>
  return (
    <details>
      <summary>{first}</summary>
      <pre className="code wrap">{rest.join('\n')}</pre>
    </details>
  )
}

/** The newest first. An intent of Weir is worth reading only if it has no result. */
function Journal({ entries }: { readonly entries: Entries }) {
  const answered = new Set(
    entries
      .filter(({ kind }) => kind === 'result' || kind === 'failure')
      .map(({ action, effect }) => `${action} ${effect}`),
  )
  const told = entries.filter(
    (entry, index) =>
      !isToldAgain(entry, entries[index + 1]) &&
      (entry.kind !== 'intent' || !answered.has(`${entry.action} ${entry.effect}`)),
  )
  const [isWhole, setWhole] = useState(false)
  const newest = told.toReversed()
  const seen = isWhole ? newest : newest.slice(0, FIRST_ENTRIES)
  const list = (
    <ul className="journal">
      {seen.map(({ sequence, at, actor, kind, says }) => (
        <li key={sequence} className={kind === 'state' ? 'weighty' : ''}>
          <span className="small faint">
            <Moment at={at} />
          </span>
          <span className={kind === 'failure' ? 'bad' : kind === 'result' ? 'quiet' : ''}>
            <Sentence of={says} />
          </span>
          <span className="small faint cut" title={actor}>
            {actor}
          </span>
        </li>
      ))}
    </ul>
  )
  return (
    <>
      {list}
      {seen.length < newest.length && (
        <Button variant="default" onClick={() => setWhole(true)}>
          Show all {newest.length}
        </Button>
      )}
    </>
  )
}
