import { Button, Checkbox, Textarea } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { type AnswerTo, ask } from '../api/ask.ts'
import { queries } from '../api/queries.ts'
import { Table } from '../parts/table.tsx'
import { counted } from '../parts/words.ts'
import { SettingsPage } from './settings-page.tsx'

type Changes = AnswerTo<'POST /v1/config/plan'>['changes']

export function ConfigurationPage() {
  const save = useMutation({
    mutationFn: () => ask('GET /v1/config'),
    onSuccess: ({ config }) => download('weir.yaml', config),
    onError: ({ message }) => notifications.show({ color: 'red', title: 'There is no file', message }),
  })
  return (
    <SettingsPage
      title="Configuration"
      says="Connections, scopes, rules and projects as one file, to keep beside your code."
      isForAdmins
      actions={
        <Button variant="default" loading={save.isPending} onClick={() => save.mutate()}>
          Download weir.yaml
        </Button>
      }
    >
      <Apply />
    </SettingsPage>
  )
}

function download(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'application/yaml' }))
  const link = Object.assign(document.createElement('a'), { href: address, download: name })
  link.click()
  URL.revokeObjectURL(address)
}

/** Reads `NAME=value`, one per line; values may contain `=`. */
const variablesIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split('\n').flatMap((line) => {
      const at = line.indexOf('=')
      return at > 0 ? [[line.slice(0, at).trim(), line.slice(at + 1).trim()]] : []
    }),
  )

function Apply() {
  const [config, setConfig] = useState('')
  const [variables, setVariables] = useState('')
  const [allowEmpty, setAllowEmpty] = useState(false)
  const body = () => ({ config, variables: variablesIn(variables), allowEmpty })
  const plan = useMutation({ mutationFn: () => ask('POST /v1/config/plan', { body: body() }) })
  const apply = useMutation({
    mutationFn: () => ask('POST /v1/config/apply', { body: body() }),
    onSuccess: async ({ changes }) => {
      plan.reset()
      await queries.invalidateQueries()
      notifications.show({ title: 'Applied', message: `${counted(changes.length, 'change')} made.` })
    },
  })
  // After a change, the plan no longer shows what would be applied.
  const changed = <Value,>(set: (value: Value) => void) => {
    return (value: Value) => {
      plan.reset()
      apply.reset()
      set(value)
    }
  }
  const failure = apply.error ?? plan.error
  return (
    <section className="card fields" aria-labelledby="apply">
      <div>
        <h2 id="apply">Apply a file</h2>
        <p className="quiet" style={{ marginTop: 4 }}>
          Paste it, look at what it would change, then apply: everything or nothing. What the file does not name stays.
        </p>
      </div>
      <Textarea
        label="File"
        placeholder={'connections:\n  github:\n    main: { endpoint: https://api.github.com/, token: $'.concat(
          '{GITHUB_TOKEN} }',
        )}
        value={config}
        onChange={({ currentTarget }) => changed(setConfig)(currentTarget.value)}
        autosize
        minRows={10}
        maxRows={24}
        spellCheck={false}
        styles={{ input: { fontFamily: 'var(--mono)', fontSize: 13 } }}
      />
      <Textarea
        label="Variables"
        description="The values of the variables in the file, one NAME=value per line. They are used once; the server's own are never read."
        placeholder="GITHUB_TOKEN=…"
        value={variables}
        onChange={({ currentTarget }) => changed(setVariables)(currentTarget.value)}
        autosize
        minRows={2}
        maxRows={8}
        spellCheck={false}
        autoComplete="off"
        styles={{ input: { fontFamily: 'var(--mono)', fontSize: 13 } }}
      />
      <Checkbox
        label="Selectors may match nothing"
        checked={allowEmpty}
        onChange={({ currentTarget }) => changed(setAllowEmpty)(currentTarget.checked)}
      />
      {failure && (
        <p role="alert" className="bad" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
          {failure.message}
        </p>
      )}
      {plan.data && <Planned changes={plan.data.changes} />}
      <div className="buttons">
        <Button
          variant={plan.data ? 'default' : 'filled'}
          disabled={config.trim() === ''}
          loading={plan.isPending}
          onClick={() => plan.mutate()}
        >
          Show changes
        </Button>
        {plan.data && plan.data.changes.length > 0 && (
          <Button loading={apply.isPending} onClick={() => apply.mutate()}>
            Apply {counted(plan.data.changes.length, 'change')}
          </Button>
        )}
      </div>
    </section>
  )
}

const shown = (value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text === undefined || text === 'null' ? 'nothing' : text.length > 300 ? `${text.slice(0, 300)}…` : text
}

function Planned({ changes }: { readonly changes: Changes }) {
  if (changes.length === 0) return <p role="status">Nothing to change: everything matches the file.</p>
  return (
    <section aria-label="Changes">
      <h3 style={{ marginBottom: 8 }}>{counted(changes.length, 'change')}</h3>
      <div className="scroll">
        <Table heads={['What', 'Field', 'Now', 'Then']}>
          {changes.flatMap(({ action, subject, fields }) =>
            (fields.length > 0 ? fields : [undefined]).map((field, index) => (
              <tr key={`${subject} ${field?.name}`}>
                <td style={{ overflowWrap: 'anywhere' }}>
                  {index === 0 && (
                    <>
                      <span className={`tag ${action === 'create' ? 'good' : 'accent'}`}>{action}</span> {subject}
                    </>
                  )}
                </td>
                <td className="mono">{field?.name}</td>
                <td className="mono quiet" style={{ overflowWrap: 'anywhere' }}>
                  {field && shown(field.before)}
                </td>
                <td className="mono" style={{ overflowWrap: 'anywhere' }}>
                  {field && shown(field.after)}
                </td>
              </tr>
            )),
          )}
        </Table>
      </div>
    </section>
  )
}
