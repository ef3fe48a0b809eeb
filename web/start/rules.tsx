import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../api/ask.ts'
import { refresh } from '../api/queries.ts'
import type { Source } from '../api/sources.ts'
import { useDraft } from '../parts/draft.ts'
import { Asked, Page } from '../parts/parts.tsx'
import type { ConnectionOverview } from '../sources/asked.ts'
import {
  configQuestion,
  type Names,
  type RuleConfig,
  type RuleValues,
  scopesWord,
  useNames,
} from '../sources/rules/asked.ts'
import { Basis, sendable, startingRules } from '../sources/rules/editor.tsx'
import { RuleFields } from '../sources/rules/rule-fields.tsx'
import type { Way } from './way.ts'

interface RulesStepProps {
  readonly way: Way
  readonly source: Source
  readonly connection: ConnectionOverview
  onDone(): void
}

/** Chooses what counts as what, filled in from the names that exist. Without this, there would be no useful first numbers. */
export function RulesStep(props: RulesStepProps) {
  const { way, connection } = props
  const configId = way.scopes.find(({ scopeConfigId }) => scopeConfigId !== null)?.scopeConfigId ?? undefined
  const names = useNames(connection.plugin, connection.id, configId)
  const stored = useQuery({
    ...configQuestion(connection.plugin, connection.id, configId ?? 0),
    enabled: configId !== undefined,
  })
  const config = stored.data
  if (names.isPending || (configId !== undefined && !config))
    return (
      <Page title="What counts as what?" says={`Looking at what ${connection.name} has…`}>
        <Asked of={(stored.isError ? stored : names) as typeof names} lines={6}>
          {() => null}
        </Asked>
      </Page>
    )
  return <Form key={configId ?? 'new'} {...props} names={names.data} config={config} />
}

interface FormProps extends RulesStepProps {
  readonly names: Names | undefined
  readonly config: RuleConfig | undefined
}

function Form({ way, source, connection, names, config, onDone }: FormProps) {
  const { plugin, id: connectionId } = connection
  const [isAll, setAll] = useState(false)
  const [values, setValues] = useDraft<RuleValues>(
    `start rules ${plugin} ${connectionId} ${config?.id ?? 'new'}`,
    config ?? startingRules(source, names),
  )
  const save = useMutation({
    mutationFn: async () => {
      const path = { plugin, connectionId }
      const body = sendable(source, values)
      const bare = way.scopes.filter(({ scopeConfigId }) => scopeConfigId === null)
      const { id } = config
        ? await ask('PATCH /plugins/{plugin}/connections/{connectionId}/scope-configs/{scopeConfigId}', {
            path: { ...path, scopeConfigId: config.id },
            header: { 'if-match': `"${config.updatedAt}"` },
            body,
          })
        : await ask('POST /plugins/{plugin}/connections/{connectionId}/scope-configs', {
            path,
            body: { ...body, name: `Rules of ${connection.name}` },
          })
      for (const { id: scopeId } of bare) {
        await ask('PATCH /plugins/{plugin}/connections/{connectionId}/scopes/{scopeId}', {
          path: { ...path, scopeId },
          body: { scopeConfigId: id },
        })
      }
      await refresh(
        'GET /v1/connections/{plugin}/{connectionId}/scopes',
        'GET /plugins/{plugin}/connections/{connectionId}/scope-configs',
        'GET /plugins/{plugin}/connections/{connectionId}/scope-configs/{scopeConfigId}',
      )
    },
    onSuccess: () => {
      setValues(undefined)
      onDone()
    },
  })
  return (
    <Page
      title="What counts as what?"
      says={
        config
          ? `The rules of ${scopesWord(source, way.scopes.length)}, as they are saved. Change them until the names look right.`
          : `We looked at ${scopesWord(source, way.scopes.length)} and filled in what we found. Change it until the names look right.`
      }
      actions={
        <Button loading={save.isPending} onClick={() => save.mutate()}>
          Save and continue
        </Button>
      }
    >
      {save.error && (
        <div className="notice failing" role="alert">
          <span>{save.error.message}</span>
        </div>
      )}
      <Basis names={names} source={source} />
      <div className="stack" style={{ maxWidth: 860 }}>
        <RuleFields
          source={source}
          values={values}
          names={names}
          isReadOnly={false}
          only={isAll ? undefined : ({ isPreviewed }) => isPreviewed === true}
          onChange={(name, value) => setValues({ ...values, [name]: value })}
        />
        <p className="small quiet">
          {isAll ? 'These are all rules. ' : 'These are the rules that the four keys rest on. '}
          <button type="button" className="link" onClick={() => setAll(!isAll)}>
            {isAll ? 'Show only those of the four keys' : 'Show all rules'}
          </button>
        </p>
      </div>
    </Page>
  )
}
