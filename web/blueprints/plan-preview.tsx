import { Drawer, SegmentedControl } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ask, type Given } from '../api/ask.ts'
import type { PlanPreview as Preview } from '../api/description.ts'
import { question } from '../api/queries.ts'
import { Asked } from '../parts/parts.tsx'
import { count, counted, duration } from '../parts/words.ts'

type Draft = Given<'POST /v1/plans/preview'>['body']

interface PlanPreviewProps {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly blueprintId?: number
  /** Unsaved changes; if given, the plan is made from them. */
  readonly draft?: Draft | undefined
}

/** Shows what a run would do, and an estimate of what it would cost. */
export function PlanPreview({ isOpen, onClose, blueprintId, draft }: PlanPreviewProps) {
  return (
    <Drawer
      opened={isOpen}
      onClose={onClose}
      position="right"
      size="lg"
      title="What a run would do"
      overlayProps={{ backgroundOpacity: 0.25 }}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {isOpen &&
        (draft ? <OfDraft draft={draft} /> : blueprintId === undefined ? null : <OfStored blueprintId={blueprintId} />)}
    </Drawer>
  )
}

function OfDraft({ draft }: { readonly draft: Draft }) {
  const preview = useQuery({
    queryKey: ['POST /v1/plans/preview', draft],
    queryFn: () => ask('POST /v1/plans/preview', { body: draft }),
    staleTime: 0,
  })
  return (
    <>
      <p className="notice">With your changes, which are not saved yet.</p>
      <Asked of={preview}>{(data) => <Stages preview={data} />}</Asked>
    </>
  )
}

const WAYS = [
  { value: 'new', label: 'What is new' },
  { value: 'full', label: 'Full sync' },
  { value: 'skip', label: 'Skip collectors' },
]

function OfStored({ blueprintId }: { readonly blueprintId: number }) {
  const [way, setWay] = useState('new')
  const preview = useQuery(
    question('GET /v1/blueprints/{id}/plan', {
      path: { id: blueprintId },
      query: { ...(way === 'full' && { fullSync: 'true' }), ...(way === 'skip' && { skipCollectors: 'true' }) },
    }),
  )
  return (
    <>
      <SegmentedControl aria-label="Way of running" data={WAYS} value={way} onChange={setWay} mb={16} />
      <Asked of={preview}>{(data) => <Stages preview={data} />}</Asked>
    </>
  )
}

const BASES = {
  'last run': 'as its last run',
  'similar scopes': 'as similar scopes',
  unknown: 'not known before it ran once',
} as const

function Stages({ preview: { tasks, requests, seconds, assumptions } }: { readonly preview: Preview }) {
  const stages = [...Map.groupBy(tasks, ({ stage }) => stage)]
  if (tasks.length === 0) return <p className="quiet">Nothing: the plan is empty.</p>
  return (
    <div className="stack">
      <p>
        <b>{counted(tasks.length, 'task')}</b> in {counted(stages.length, 'stage')}
        {requests !== null && `, about ${count(requests)} requests`}
        {seconds !== null && `, about ${duration(seconds / 60)}`}.
        {requests === null && ' What it costs is known after the first run.'}
      </p>
      {assumptions.map(({ subject, rules }) => (
        <details key={subject} className="small">
          <summary>
            Rules are assumed for {subject}, which have no rules of their own ({rules.length})
          </summary>
          <ul>
            {rules.map(({ name, label, value }) => (
              <li key={name}>
                {label}: <code className="mono">{typeof value === 'string' ? value : JSON.stringify(value)}</code>
              </li>
            ))}
          </ul>
        </details>
      ))}
      {stages.map(([stage, own]) => (
        <section key={stage} className="card" style={{ padding: '12px 16px' }}>
          <h3>Stage {stage}</h3>
          <div className="lines">
            {own.map(({ column, plugin, title, requests: asked, seconds: spent, basis }) => (
              <div key={column} className="row" style={{ padding: '6px 0' }}>
                <span className="cut" title={title}>
                  <span className="mono faint">{plugin}</span> {title !== plugin && title}
                </span>
                <span className="small quiet number" style={{ whiteSpace: 'nowrap' }} title={BASES[basis]}>
                  {spent !== null && duration(spent / 60)}
                  {asked !== null && asked > 0 && `, ${count(asked)} requests`}
                </span>
              </div>
            ))}
          </div>
        </section>
      ))}
    </div>
  )
}
