import { Button, Checkbox, Drawer, Select, Switch, Textarea, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type AnswerTo, ask } from '../api/ask.ts'
import type { Blueprint } from '../api/description.ts'
import { question } from '../api/queries.ts'
import { ButtonTo } from '../parts/anywhere.tsx'
import { Asked, Empty, Failure, Waiting } from '../parts/parts.tsx'
import { counted } from '../parts/words.ts'
import { useSource } from '../sources/asked.ts'
import { configsQuestion, type RuleConfig } from '../sources/rules/asked.ts'
import { patternsIn } from '../sources/scope-matches.tsx'
import { Matches, useSelectorMatches } from './selector-matches.tsx'
import { refreshSelectors } from './selectors.tsx'

interface AddSelectorProps {
  readonly blueprint: Blueprint
  readonly isOpen: boolean
  readonly onClose: () => void
}
type Connection = AnswerTo<'GET /v1/connections'>[number]

export function AddSelector({ blueprint, isOpen, onClose }: AddSelectorProps) {
  return (
    <Drawer
      opened={isOpen}
      onClose={onClose}
      position="right"
      size="lg"
      title="Add a selector"
      overlayProps={{ backgroundOpacity: 0.25 }}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {isOpen && <Body blueprint={blueprint} onDone={onClose} />}
    </Drawer>
  )
}

function Body({ blueprint, onDone }: { readonly blueprint: Blueprint; readonly onDone: () => void }) {
  const connections = useQuery(question('GET /v1/connections'))
  return (
    <Asked of={connections}>
      {(all) =>
        all.length === 0 ? (
          <Empty
            title="No source is connected yet"
            action={<ButtonTo at={{ path: '/sources' }}>Connect a source</ButtonTo>}
          >
            A selector chooses from what a connection shows.
          </Empty>
        ) : (
          <Form blueprint={blueprint} connections={all} onDone={onDone} />
        )
      }
    </Asked>
  )
}

const keyOf = ({ plugin, id }: Pick<Connection, 'plugin' | 'id'>) => `${plugin} ${id}`

interface FormProps {
  readonly blueprint: Blueprint
  readonly connections: readonly Connection[]
  readonly onDone: () => void
}

/** A pause in typing this long means that the user wants to see the matches; each time the source itself is asked. */
const PAUSE_MS = 500

function Form({ blueprint, connections, onDone }: FormProps) {
  const isOwn = ({ plugin, id }: Connection) =>
    blueprint.connections.some((each) => each.pluginName === plugin && each.connectionId === id)
  const [key, setKey] = useState(keyOf(connections.find(isOwn) ?? (connections[0] as Connection)))
  const [text, setText] = useState('')
  const [exceptText, setExcept] = useState('')
  const [topic, setTopic] = useState('')
  const [archived, setArchived] = useState(false)
  const [scopeConfigId, setConfig] = useState<number | null>(null)
  const [allowEmpty, setAllowEmpty] = useState(false)
  const { plugin, id: connectionId } = connections.find((each) => keyOf(each) === key) ?? (connections[0] as Connection)
  const { source } = useSource(plugin)
  const hasRules = source !== undefined && Object.keys(source.scopeConfig).length > 0
  const configs = useQuery({ ...configsQuestion(plugin, connectionId), enabled: hasRules })
  const scopes = patternsIn(text)
  const except = patternsIn(exceptText)
  const [settled] = useDebouncedValue(JSON.stringify({ scopes, except, topic: topic.trim() }), PAUSE_MS)
  const matches = useSelectorMatches({ plugin, connectionId, archived, ...JSON.parse(settled) })
  const found = scopes.length > 0 ? matches.data : undefined
  const isDoubtful = found !== undefined && (found.count === 0 || found.unmatched.length > 0)
  const body = {
    plugin,
    connectionId,
    scopes,
    except,
    archived,
    ...(topic.trim() && { topic: topic.trim() }),
    ...(scopeConfigId !== null && { scopeConfigId }),
    ...(isDoubtful && allowEmpty && { allowEmpty }),
  }
  // A refusal is about the values that were sent, not about later typing.
  const sent = JSON.stringify(body)
  const add = useMutation({
    mutationFn: (_sent: string) => ask('POST /v1/blueprints/{id}/selectors', { path: { id: blueprint.id }, body }),
    onSuccess: async ({ newCount }) => {
      await refreshSelectors(plugin)
      const what = source?.scope.title.toLowerCase() ?? 'scope'
      notifications.show({
        title: 'The selector is added',
        message:
          newCount === 0
            ? 'Nothing new was added yet.'
            : `${counted(newCount, what)} added. The next run collects what is new.`,
      })
      onDone()
    },
  })
  return (
    <div className="fields" style={{ display: 'grid', gap: 16 }}>
      <Select
        label="Connection"
        data={connections.map((each) => ({ value: keyOf(each), label: `${each.name} (${each.title})` }))}
        value={key}
        allowDeselect={false}
        onChange={(next) => {
          if (next === null) return
          setKey(next)
          setConfig(null)
        }}
      />
      <Textarea
        label="Names and patterns"
        description="One per line. * matches anything except a slash, ** matches anything: acme/*, acme/web-*."
        placeholder="acme/*"
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
        autosize
        minRows={2}
        maxRows={8}
        spellCheck={false}
        styles={{ input: { fontFamily: 'var(--mono)', fontSize: 13 } }}
      />
      <Textarea
        label="Without"
        description="Names and patterns that are left out."
        placeholder="acme/playground-*"
        value={exceptText}
        onChange={({ currentTarget }) => setExcept(currentTarget.value)}
        autosize
        minRows={1}
        maxRows={4}
        spellCheck={false}
        styles={{ input: { fontFamily: 'var(--mono)', fontSize: 13 } }}
      />
      <TextInput
        label="Topic"
        description="Only what has this topic at the source; empty: whatever it has."
        value={topic}
        maxLength={100}
        onChange={({ currentTarget }) => setTopic(currentTarget.value)}
      />
      {hasRules && (
        <Select
          label="Rules"
          description="For everything that matches, now and later. They replace other rules."
          placeholder="Leave them as they are"
          data={((configs.data ?? []) as readonly RuleConfig[]).map(({ id, name }) => ({
            value: String(id),
            label: name,
          }))}
          value={scopeConfigId === null ? null : String(scopeConfigId)}
          clearable
          onChange={(next) => setConfig(next === null ? null : Number(next))}
        />
      )}
      <Switch
        label="Archived ones too"
        checked={archived}
        onChange={({ currentTarget }) => setArchived(currentTarget.checked)}
      />
      {scopes.length === 0 ? (
        <p className="small quiet">What matches now appears here while you type.</p>
      ) : matches.error ? (
        <Failure error={matches.error} again={() => void matches.refetch()} />
      ) : found ? (
        <div>
          <Matches found={found} blueprint={blueprint} plugin={plugin} connectionId={connectionId} />
        </div>
      ) : (
        <Waiting lines={2} />
      )}
      {isDoubtful && (
        <Checkbox
          label="Add it although some patterns match nothing yet"
          description="What matches later is added then."
          checked={allowEmpty}
          onChange={({ currentTarget }) => setAllowEmpty(currentTarget.checked)}
        />
      )}
      {add.error && add.variables === sent && (
        <p className="bad" role="alert" style={{ overflowWrap: 'anywhere' }}>
          {add.error.message}
        </p>
      )}
      <div className="actions">
        <Button disabled={scopes.length === 0} loading={add.isPending} onClick={() => add.mutate(sent)}>
          Add selector
        </Button>
        <Button variant="default" onClick={onDone}>
          Cancel
        </Button>
      </div>
    </div>
  )
}
