import { Button, Checkbox, Drawer, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import { ask } from '../../api/ask.ts'
import { refresh } from '../../api/queries.ts'
import type { Source } from '../../api/sources.ts'
import { useMay } from '../../frame/sign-in.tsx'
import { Asked } from '../../parts/parts.tsx'
import { type ListedScope, useScopes } from '../asked.ts'
import { type RuleConfig, scopesWord } from './asked.ts'

const SHOWN = 200

interface ScopesDrawerProps {
  readonly source: Source
  readonly connectionId: number
  readonly config: RuleConfig
  readonly isOpen: boolean
  onClose(): void
}

/** Shows which scopes use the rules, and which others could. */
export function ScopesDrawer({ isOpen, onClose, ...rest }: ScopesDrawerProps) {
  const word = scopesWord(rest.source, 2).replace('2 ', '')
  return (
    <Drawer
      opened={isOpen}
      onClose={onClose}
      position="right"
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
      title={`Where ${rest.config.name} holds`}
    >
      {isOpen && <Choice {...rest} word={word} onClose={onClose} />}
    </Drawer>
  )
}

function Choice({
  source,
  connectionId,
  config,
  word,
  onClose,
}: Omit<ScopesDrawerProps, 'isOpen'> & { readonly word: string }) {
  const { plugin } = source
  const may = useMay('admin')
  const [words, setWords] = useState('')
  const searchTerm = useDeferredValue(words)
  const [changes, setChanges] = useState<ReadonlyMap<string, boolean>>(new Map())
  const list = useScopes(plugin, connectionId, searchTerm)
  const assign = useMutation({
    mutationFn: async () => {
      for (const [scopeId, isOn] of changes) {
        await ask('PATCH /plugins/{plugin}/connections/{connectionId}/scopes/{scopeId}', {
          path: { plugin, connectionId, scopeId },
          body: { scopeConfigId: isOn ? config.id : 0 },
        })
      }
    },
    onSuccess: () => {
      notifications.show({ message: `${config.name} applies to what you chose, from the next run on.` })
      onClose()
    },
    // Some scopes may be changed even if another was refused.
    onSettled: () =>
      refresh(
        'GET /v1/connections/{plugin}/{connectionId}/scopes',
        'GET /plugins/{plugin}/scope-config/{scopeConfigId}/projects',
        'GET /v1/names',
      ),
  })
  return (
    <div className="stack">
      <p className="small quiet">
        A scope has one set of rules. Those without any go by what is usual; those of others leave them when chosen
        here.
      </p>
      <TextInput
        placeholder={`Find ${word}`}
        aria-label={`Find ${word}`}
        value={words}
        onChange={({ currentTarget }) => setWords(currentTarget.value)}
      />
      <Asked of={list}>
        {(all) => {
          const shown = all.slice(0, SHOWN)
          const isOn = ({ id, scopeConfigId }: ListedScope) => changes.get(id) ?? scopeConfigId === config.id
          const set = (some: readonly ListedScope[], on: boolean) =>
            setChanges(
              new Map([
                ...[...changes].filter(([id]) => !some.some((each) => each.id === id)),
                ...some
                  .filter(({ scopeConfigId }) => (scopeConfigId === config.id) !== on)
                  .map(({ id }) => [id, on] as [string, boolean]),
              ]),
            )
          return (
            <>
              {all.length === 0 && (
                <p className="quiet">
                  {searchTerm ? `None is called “${searchTerm}”.` : `No ${word} are chosen in this connection yet.`}
                </p>
              )}
              {shown.length > 1 && (
                <Checkbox
                  label={`All ${scopesWord(source, all.length)}`}
                  checked={all.every(isOn)}
                  indeterminate={all.some(isOn) && !all.every(isOn)}
                  onChange={() => set(all, !all.every(isOn))}
                  disabled={!may}
                />
              )}
              <ul className="ticks">
                {shown.map((scope) => (
                  <li key={scope.id}>
                    <Checkbox
                      label={<bdi>{scope.name}</bdi>}
                      description={
                        scope.scopeConfigName && scope.scopeConfigId !== config.id
                          ? `has ${scope.scopeConfigName}`
                          : undefined
                      }
                      checked={isOn(scope)}
                      onChange={() => set([scope], !isOn(scope))}
                      disabled={!may}
                    />
                  </li>
                ))}
              </ul>
              {all.length > shown.length && (
                <p className="small quiet">
                  {shown.length} of {all.length}: search for the others.
                </p>
              )}
            </>
          )
        }}
      </Asked>
      {assign.isError && <p className="bad">{assign.error.message}</p>}
      {may && (
        <Button
          onClick={() => assign.mutate()}
          disabled={changes.size === 0}
          loading={assign.isPending}
          style={{ justifySelf: 'start' }}
        >
          {changes.size === 0 ? 'Nothing to change' : `Change ${scopesWord(source, changes.size)}`}
        </Button>
      )}
    </div>
  )
}
