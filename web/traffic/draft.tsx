/** Shows what a draft needs before it is prepared: its plan, and a check for obstacles. */
import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type AnswerTo, ask } from '../api/ask.ts'
import { question, refresh } from '../api/queries.ts'
import { Asked } from '../parts/parts.tsx'
import { refreshSwitches, type Switch } from './describe.tsx'
import { PlanEditor, useLint } from './plan-editor.tsx'

export function DraftPlan({ of }: { readonly of: Switch }) {
  const stored = useQuery(question('GET /v1/traffic-switches/{id}/plan', { path: { id: of.id } }))
  return (
    <section className="card" aria-labelledby="plan">
      <h2 id="plan" style={{ marginBottom: 12 }}>
        Plan of the draft
      </h2>
      <Asked of={stored}>{({ yaml }) => <Editor key={yaml} of={of} stored={yaml} />}</Asked>
    </section>
  )
}

function Editor({ of, stored }: { readonly of: Switch; readonly stored: string }) {
  const [yaml, setYaml] = useState(stored)
  const lint = useLint(yaml)
  const save = useMutation({
    mutationFn: () => ask('PUT /v1/traffic-switches/{id}', { path: { id: of.id }, body: { yaml } }),
    onSuccess: async () => {
      notifications.show({ message: 'The plan is stored.' })
      await Promise.all([refreshSwitches(), refresh('GET /v1/traffic-switches/{id}/plan')])
    },
  })
  return (
    <div className="fields">
      <PlanEditor yaml={yaml} onChange={setYaml} lint={lint} />
      {save.error && (
        <p role="alert" className="bad" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-line' }}>
          {save.error.message}
        </p>
      )}
      <div className="buttons">
        <Button
          variant="default"
          disabled={!lint.isClean || yaml === stored}
          loading={save.isPending}
          onClick={() => save.mutate()}
        >
          Store the plan
        </Button>
      </div>
    </div>
  )
}

type Checks = AnswerTo<'POST /v1/traffic-switches/{id}/preflight'>

/** Obstacles come first. */
const ORDER = ['failed', 'warning', 'unknown', 'ok'] as const
const LOOKS = { ok: 'good', warning: 'attention', failed: 'bad', unknown: '' } as const

const inOrder = (checks: Checks): Checks =>
  checks.toSorted((one, other) => ORDER.indexOf(one.status) - ORDER.indexOf(other.status))

/** Asks both clusters and AWS, so it runs only when the user wants it. */
export function Preflight({ of }: { readonly of: Switch }) {
  const look = useMutation({
    mutationFn: () => ask('POST /v1/traffic-switches/{id}/preflight', { path: { id: of.id } }),
  })
  return (
    <section className="card" aria-labelledby="preflight">
      <div className="section-head">
        <div>
          <h2 id="preflight">Preflight</h2>
          <p>Looks at both clusters and AWS, and changes nothing.</p>
        </div>
        <Button variant="default" loading={look.isPending} onClick={() => look.mutate()}>
          Check
        </Button>
      </div>
      {look.error && (
        <p role="alert" className="bad" style={{ overflowWrap: 'anywhere' }}>
          {look.error.message}
        </p>
      )}
      {look.data && (
        <ul className="gates">
          {inOrder(look.data).map(({ check, status, message, route }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a check may say several things
            <li key={index}>
              <span>
                <span className={`tag ${LOOKS[status]}`}>{status}</span>
              </span>
              <span style={{ whiteSpace: 'pre-line', overflowWrap: 'anywhere' }}>{message}</span>
              <span className="small quiet">
                {check}
                {route && ` (${route})`}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
