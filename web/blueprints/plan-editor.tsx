import { Button, Menu } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { ask } from '../api/ask.ts'
import { question } from '../api/queries.ts'
import type { PlacedProblem } from './plan-text.tsx'

const PlanText = lazy(() => import('./plan-text.tsx'))

export const textOf = (plan: unknown): string => JSON.stringify(plan, null, 2)

/** Parses the plan in a text; undefined if the text is not a plan. */
export function planIn(text: string): unknown[] | undefined {
  try {
    const plan: unknown = JSON.parse(text)
    return Array.isArray(plan) ? plan : undefined
  } catch {
    return undefined
  }
}

interface PlanEditorProps {
  readonly text: string
  readonly onText: (text: string) => void
  readonly isReadOnly: boolean
}

/** Edits stages of tasks as JSON, with templates, completion, and problems that name their line and field. */
export function PlanEditor({ text, onText, isReadOnly }: PlanEditorProps) {
  const plugins = useQuery({ ...question('GET /v1/plans/plugins'), staleTime: Number.POSITIVE_INFINITY })
  const [problems, setProblems] = useState<readonly PlacedProblem[]>([])
  const plan = planIn(text)
  // A list of tasks alone is one stage. Before another stage is added, it becomes a list of stages.
  const stages = plan?.length && !plan.some(Array.isArray) ? [plan] : (plan ?? [])
  return (
    <section className="card" aria-label="Plan">
      <div className="row" style={{ marginBottom: 12, alignItems: 'center' }}>
        <div style={{ minWidth: 0 }}>
          <h2>Plan</h2>
          <p className="small quiet">
            A list of stages, each a list of tasks. Stages run one after another, tasks of a stage side by side. A list
            of tasks alone is one stage.
          </p>
        </div>
        {!isReadOnly && (
          <Menu position="bottom-end" width={320}>
            <Menu.Target>
              <Button variant="default" disabled={!plan && text.trim() !== ''} style={{ flexShrink: 0 }}>
                Add a task
              </Button>
            </Menu.Target>
            <Menu.Dropdown mah={400} style={{ overflowY: 'auto' }}>
              {(plugins.data ?? []).map(({ plugin, title, template }) => (
                <Menu.Item key={plugin} onClick={() => onText(textOf([...stages, [template]]))}>
                  {title} <span className="small faint mono">{plugin}</span>
                </Menu.Item>
              ))}
            </Menu.Dropdown>
          </Menu>
        )}
      </div>
      <Suspense fallback={<div className="editor" style={{ minHeight: 260 }} />}>
        <PlanText
          text={text}
          onText={onText}
          plugins={plugins.data ?? []}
          check={(plan) => ask('POST /v1/plans/check', { body: { plan } })}
          onProblems={setProblems}
          isReadOnly={isReadOnly}
        />
      </Suspense>
      <p className="small faint" style={{ marginTop: 8 }}>
        Ctrl Space completes plugins, subtasks and options. Escape, then Tab, leaves the editor.
      </p>
      {problems.length > 0 && <Problems problems={problems} />}
    </section>
  )
}

/** The path without the numbers of stage and task. */
function fieldIn(path: PlacedProblem['path']): string {
  const first = path.findIndex((step) => typeof step === 'string')
  return first < 0 ? '' : path.slice(first).join('.')
}

function Problems({ problems }: { readonly problems: readonly PlacedProblem[] }) {
  return (
    <ul aria-label="Problems" style={{ listStyle: 'none', margin: '12px 0 0', padding: 0 }} className="lines small">
      {problems.map(({ line, path, message, severity }) => (
        <li key={`${line} ${message}`} style={{ padding: '6px 0' }}>
          <span className={`tag ${severity === 'error' ? 'bad' : 'attention'}`}>Line {line}</span>{' '}
          {fieldIn(path) && <code className="mono faint">{fieldIn(path)}</code>} {message}
        </li>
      ))}
    </ul>
  )
}
