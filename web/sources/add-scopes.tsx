import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../api/ask.ts'
import type { RemoteScope } from '../api/description.ts'
import type { Source } from '../api/sources.ts'
import { counted, plural } from '../parts/words.ts'
import { refreshConnections } from './asked.ts'
import { ScopePicker } from './scope-picker.tsx'

interface AddScopesProps {
  readonly source: Source
  readonly connectionId: number
  onDone(): void
}

/** Fits into one request with room to spare. */
const AT_ONCE = 500

export async function putScopes(plugin: string, connectionId: number, chosen: readonly RemoteScope[]): Promise<void> {
  for (let begin = 0; begin < chosen.length; begin += AT_ONCE) {
    const data = chosen.slice(begin, begin + AT_ONCE).map((scope) => scope.data as Readonly<Record<string, never>>)
    await ask('PUT /plugins/{plugin}/connections/{connectionId}/scopes', {
      path: { plugin, connectionId },
      body: { data },
    })
  }
  await refreshConnections()
}

export function AddScopes({ source, connectionId, onDone }: AddScopesProps) {
  const [chosen, setChosen] = useState<readonly RemoteScope[]>([])
  const what = source.scope.title.toLowerCase()
  const add = useMutation({
    mutationFn: () => putScopes(source.plugin, connectionId, chosen),
    onSuccess: () => {
      notifications.show({ message: `${counted(chosen.length, what)} added. Projects can collect them now.` })
      onDone()
    },
  })
  return (
    <div style={{ display: 'grid', gap: 16 }}>
      <ScopePicker plugin={source.plugin} connectionId={connectionId} chosen={chosen} onChange={setChosen} onlyNew />
      {add.error && (
        <p className="bad" role="alert">
          {add.error.message}
        </p>
      )}
      <div className="actions foot-actions">
        <Button disabled={chosen.length === 0} loading={add.isPending} onClick={() => add.mutate()}>
          {chosen.length === 0 ? `Add ${plural(what)}` : `Add ${counted(chosen.length, what)}`}
        </Button>
        <Button variant="default" onClick={onDone}>
          Cancel
        </Button>
      </div>
    </div>
  )
}
