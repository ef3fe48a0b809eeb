/** Makes a plan from what is live: from two contexts, or from pasted manifests. */
import { Button, SegmentedControl, Select, Textarea, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type AnswerTo, ask } from '../api/ask.ts'
import { question } from '../api/queries.ts'

type Imported = AnswerTo<'POST /v1/traffic-imports'>
type Values = Readonly<Record<string, string>>
type From = 'clusters' | 'manifests'

const COMMAND = 'kubectl get ingress,service,targetgroupbinding -o yaml'

interface FormProps {
  readonly onPlan: (yaml: string) => void
  /** There is a plan already, and the next step is to store it. */
  readonly hasPlan: boolean
}

export function ImportForm({ onPlan, hasPlan }: FormProps) {
  const [from, setFrom] = useState<From>('clusters')
  const [values, setValues] = useState<Values>({})
  const set = (field: string) => (value: string) => setValues((before) => ({ ...before, [field]: value }))
  const contexts = useQuery({ ...question('GET /v1/traffic-contexts'), enabled: from === 'clusters' })
  const asked = useMutation({
    mutationFn: () =>
      from === 'manifests'
        ? ask('POST /v1/traffic-imports/manifests', { body: bodyOf(values, from) as never })
        : ask('POST /v1/traffic-imports', { body: bodyOf(values, from) as never }),
    onSuccess: ({ yaml }) => {
      if (yaml !== null) onPlan(yaml)
    },
  })
  const text = (field: string, label: string, description = '') => (
    <TextInput
      label={label}
      description={description}
      value={values[field] ?? ''}
      onChange={({ currentTarget }) => set(field)(currentTarget.value)}
    />
  )
  const context = (field: string, label: string) => {
    const names = contexts.data ?? []
    if (from === 'manifests' || names.length === 0) return text(field, label, 'Its name in the kubeconfig.')
    return (
      <Select
        label={label}
        description="From the kubeconfig of this server."
        data={names}
        value={values[field] || null}
        onChange={(value) => set(field)(value ?? '')}
      />
    )
  }
  const paste = (field: string, label: string) => (
    <Textarea
      label={label}
      description={`What ${COMMAND} prints.`}
      value={values[field] ?? ''}
      onChange={({ currentTarget }) => set(field)(currentTarget.value)}
      classNames={{ input: 'mono' }}
      wrap="off"
      spellCheck={false}
      autosize
      minRows={4}
      maxRows={12}
    />
  )
  const needed = ['project', 'currentContext', 'targetContext', 'namespace', 'ingress']
  if (from === 'manifests') needed.push('currentManifests', 'targetManifests')
  return (
    <form
      className="fields"
      onSubmit={(event) => {
        event.preventDefault()
        asked.mutate()
      }}
    >
      <SegmentedControl
        style={{ justifySelf: 'start' }}
        aria-label="Where the plan comes from"
        value={from}
        onChange={(value) => setFrom(value as From)}
        data={[
          { value: 'clusters', label: 'Read both clusters' },
          { value: 'manifests', label: 'Paste manifests' },
        ]}
      />
      {from === 'clusters' && contexts.error && (
        <p role="alert" className="quiet small">
          {contexts.error.message}
        </p>
      )}
      <div className="two">
        {context('currentContext', 'Cluster that traffic leaves')}
        {context('targetContext', 'Cluster that gets it')}
        {text('namespace', 'Namespace', 'Of both clusters. If they differ, correct the plan.')}
        {text('ingress', 'Ingress', 'Of the cluster that traffic leaves.')}
        {text('project', 'Project', 'Whose incidents and deployments the gates watch.')}
      </div>
      {from === 'manifests' && (
        <div className="two">
          {paste('currentManifests', 'Manifests of the cluster that traffic leaves')}
          {paste('targetManifests', 'Manifests of the cluster that gets it')}
        </div>
      )}
      {asked.data && <Questions imported={asked.data} values={values} set={set} />}
      {asked.error && (
        <p role="alert" className="bad" style={{ overflowWrap: 'anywhere' }}>
          {asked.error.message}
        </p>
      )}
      <div className="buttons">
        <Button
          type="submit"
          variant={hasPlan ? 'default' : 'filled'}
          loading={asked.isPending}
          disabled={needed.some((field) => !values[field]?.trim())}
        >
          Make a plan
        </Button>
      </div>
    </form>
  )
}

function bodyOf(values: Values, from: From): Readonly<Record<string, unknown>> {
  const filled = Object.entries(values).filter(
    ([field, text]) => text.trim() !== '' && (from === 'manifests' || !field.endsWith('Manifests')),
  )
  return Object.fromEntries(filled.map(([field, text]) => [field, formOf(field, text)]))
}

/** Values in the form that the server needs. A manifest stays as it was pasted, because its indentation counts. */
function formOf(field: string, text: string): unknown {
  if (field.endsWith('Manifests')) return text
  if (field === 'containerPort') return Number(text)
  return field === 'createTargetIngress' ? text === 'true' : text.trim()
}

interface QuestionsProps {
  readonly imported: Imported
  readonly values: Values
  readonly set: (field: string) => (value: string) => void
}

/** Questions that only a person can decide. */
function Questions({ imported: { plan, questions, findings }, values, set }: QuestionsProps) {
  if (plan !== null) return null
  return (
    <section className="notice import-questions" aria-label="Questions">
      {questions.length > 0 && <p>Only you can decide this:</p>}
      {questions.map(({ field, text, choices, hints }) =>
        choices.length > 0 ? (
          <Select
            key={field}
            label={text}
            data={choices.map((choice, index) => ({
              value: choice,
              label: `${choice || '(none)'}${hints[index] ? `: ${hints[index]}` : ''}`,
            }))}
            value={values[field] || null}
            onChange={(value) => set(field)(value ?? '')}
          />
        ) : (
          <TextInput
            key={field}
            label={text}
            value={values[field] ?? ''}
            onChange={({ currentTarget }) => set(field)(currentTarget.value)}
          />
        ),
      )}
      {findings.map(({ path, message, remedy }) => (
        <p key={`${path} ${message}`}>
          <span className="mono">{path}</span> {message} {remedy}
        </p>
      ))}
    </section>
  )
}
