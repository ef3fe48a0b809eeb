import { Button, Modal, Progress, Radio } from '@mantine/core'
import { useMutation, useQueries } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../api/ask.ts'
import { question } from '../api/queries.ts'
import type { Source } from '../api/sources.ts'
import { count, counted, plural } from '../parts/words.ts'
import { type ListedScope, refreshConnections } from './asked.ts'

interface RemoveScopesProps {
  readonly source: Source
  readonly connectionId: number
  readonly scopes: readonly ListedScope[]
  onClose(isDone: boolean): void
}

/** For more scopes than this, the records are not counted. */
const COUNTED = 20

interface Refusal {
  readonly scope: ListedScope
  readonly message: string
}

export function RemoveScopes({ source, connectionId, scopes, onClose }: RemoveScopesProps) {
  const { plugin } = source
  const [dataOnly, setDataOnly] = useState(false)
  const [done, setDone] = useState(0)
  const [refusals, setRefusals] = useState<readonly Refusal[]>([])
  const receipts = useQueries({
    queries: scopes
      .slice(0, COUNTED)
      .map(({ id }) => question('GET /v1/receipts', { query: { plugin, connectionId, scopeId: id } })),
  })
  const records = receipts.reduce(
    (sum, { data }) => sum + (data?.receipts ?? []).reduce((own, { stored }) => own + stored, 0),
    0,
  )
  const isCounted = scopes.length <= COUNTED && receipts.every(({ data }) => data !== undefined)
  const used = scopes.filter(({ usedBy }) => usedBy.length > 0)
  const projects = [...new Set(used.flatMap(({ usedBy }) => usedBy))]
  const what = source.scope.title.toLowerCase()
  const removal = useMutation({
    mutationFn: async () => {
      const refused: Refusal[] = []
      for (const [index, scope] of scopes.entries()) {
        await ask('DELETE /plugins/{plugin}/connections/{connectionId}/scopes/{scopeId}', {
          path: { plugin, connectionId, scopeId: scope.id },
          query: dataOnly ? { delete_data_only: 'true' } : {},
        }).catch(({ message }: Error) => refused.push({ scope, message }))
        setDone(index + 1)
      }
      setRefusals(refused)
      await refreshConnections()
      if (refused.length === 0) onClose(true)
    },
  })
  const one = scopes.length === 1 ? scopes[0] : undefined
  return (
    <Modal
      opened
      onClose={() => onClose(refusals.length > 0)}
      title={one ? `Remove ${one.name}` : `Remove ${counted(scopes.length, what)}`}
      size="lg"
      centered
    >
      <div style={{ display: 'grid', gap: 16, overflowWrap: 'anywhere' }}>
        <Radio.Group
          value={dataOnly ? 'data' : 'all'}
          onChange={(value) => setDataOnly(value === 'data')}
          label="What goes"
        >
          <div style={{ display: 'grid', gap: 8, paddingTop: 8 }}>
            <Radio
              value="all"
              label={`The ${one ? what : plural(what)}, and all that was collected`}
              description={
                isCounted && records === 0
                  ? 'Nothing was collected yet.'
                  : isCounted
                    ? `${counted(records, 'stored record')}, and the rows and metrics made of them.`
                    : 'Stored records, and the rows and metrics made of them.'
              }
            />
            <Radio
              value="data"
              label="Only what was collected"
              description={`The ${one ? `${what} stays` : `${plural(what)} stay`} here and in projects; the next run collects it again.`}
            />
          </div>
        </Radio.Group>
        <p className="small quiet">
          What stays: everything at {source.title}, the connection, its rules, and the data of other {plural(what)}.
        </p>
        {!dataOnly && used.length > 0 && refusals.length === 0 && (
          <div className="notice" style={{ margin: 0 }}>
            <span>
              {one ? 'It is' : `${count(used.length)} of them are`} collected by {projects.slice(0, 5).join(', ')}
              {projects.length > 5 && ` and ${projects.length - 5} more`}: take {one ? 'it' : 'them'} out there first.
            </span>
          </div>
        )}
        {removal.isPending && <Progress value={(done / scopes.length) * 100} aria-label="Removed so far" />}
        {refusals.length > 0 && (
          <div role="alert">
            <p className="bad">
              {counted(refusals.length, what)} could not be removed
              {scopes.length > refusals.length && `; ${count(scopes.length - refusals.length)} are gone`}:
            </p>
            <ul className="small" style={{ maxHeight: 200, overflow: 'auto' }}>
              {refusals.map(({ scope, message }) => (
                <li key={scope.id}>{message}</li>
              ))}
            </ul>
          </div>
        )}
        <div className="actions" style={{ justifyContent: 'flex-end' }}>
          <Button variant="default" onClick={() => onClose(refusals.length > 0)}>
            {refusals.length > 0 ? 'Done' : 'Keep'}
          </Button>
          {refusals.length === 0 && (
            <Button color="red" loading={removal.isPending} onClick={() => removal.mutate()}>
              {dataOnly ? 'Delete the data' : `Remove ${one ? `this ${what}` : counted(scopes.length, what)}`}
            </Button>
          )}
        </div>
      </div>
    </Modal>
  )
}
