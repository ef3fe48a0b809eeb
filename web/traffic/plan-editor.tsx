/** A plan as text, with problems shown while the user types, and its simulation below. */
import { Textarea } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import type { AnswerTo } from '../api/ask.ts'
import { question } from '../api/queries.ts'
import { counted } from '../parts/words.ts'
import { SimulationChart } from './simulation.tsx'

const PAUSE_MS = 400

type Finding = AnswerTo<'POST /v1/traffic-switches/lint'>[number]

/** Findings for the text as it was a moment ago. */
export function useLint(yaml: string) {
  const [settled] = useDebouncedValue(yaml, PAUSE_MS)
  const isEmpty = settled.trim() === ''
  const lint = useQuery({
    ...question('POST /v1/traffic-switches/lint', { body: { yaml: settled } }),
    enabled: !isEmpty,
    placeholderData: (before: readonly Finding[] | undefined) => before as Finding[] | undefined,
  })
  const findings = isEmpty ? [] : (lint.data ?? [])
  const hasErrors = findings.some(({ severity }) => severity === 'error')
  const isClean = !isEmpty && settled === yaml && lint.data !== undefined && !lint.isPlaceholderData && !hasErrors
  return { settled, findings, isClean, failure: lint.error }
}

function saidOf(findings: readonly Finding[], isClean: boolean): string {
  if (findings.length === 0) return isClean ? 'Nothing is wrong with this plan.' : ''
  const errors = findings.filter(({ severity }) => severity === 'error').length
  const warnings = findings.length - errors
  const parts = [errors > 0 && counted(errors, 'error'), warnings > 0 && counted(warnings, 'warning')]
  return parts.filter(Boolean).join(', ')
}

interface EditorProps {
  readonly yaml: string
  readonly onChange: (yaml: string) => void
  readonly lint: ReturnType<typeof useLint>
}

export function PlanEditor({ yaml, onChange, lint }: EditorProps) {
  const { settled, findings, isClean, failure } = lint
  return (
    <div className="fields">
      <div className="plan-editor">
        <Textarea
          label="Plan"
          description="YAML. It is checked as you type, and nothing is stored."
          value={yaml}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
          classNames={{ input: 'mono' }}
          wrap="off"
          spellCheck={false}
          autosize
          minRows={yaml === '' ? 6 : 16}
          maxRows={36}
        />
        <section aria-label="Findings" aria-live="polite">
          <p className="small quiet" style={{ marginBottom: 8 }}>
            {failure ? failure.message : saidOf(findings, isClean)}
          </p>
          <ul className="findings">
            {findings.map(({ code, severity, path, line, message, remedy }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a place may have several findings of one code
              <li key={index}>
                <span className={`tag ${severity === 'error' ? 'bad' : 'attention'}`}>{severity}</span>{' '}
                <span className="mono">{path}</span>
                {line !== undefined && <span className="small faint"> line {line}</span>}
                <p>{message}</p>
                <p className="small quiet">
                  {remedy} <span className="faint">{code}</span>
                </p>
              </li>
            ))}
          </ul>
        </section>
      </div>
      {isClean && <SimulationChart yaml={settled} />}
    </div>
  )
}
