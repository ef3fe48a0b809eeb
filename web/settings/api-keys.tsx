import { Button, Modal } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../api/ask.ts'
import type { ApiKey } from '../api/description.ts'
import { question, refresh } from '../api/queries.ts'
import { AskFirst } from '../parts/ask-first.tsx'
import { Copy } from '../parts/copy.tsx'
import { Asked, Empty, Moment } from '../parts/parts.tsx'
import { ACTIONS, Table } from '../parts/table.tsx'
import { NewKey } from './new-key.tsx'
import { SettingsPage } from './settings-page.tsx'

const place = getRouteApi('/settings/api-keys')
const SHOWN = 200

export function ApiKeysPage() {
  const { create = false } = place.useSearch()
  const navigate = place.useNavigate()
  const [made, setMade] = useState<ApiKey>()
  const open = () => void navigate({ search: { create: true } })
  const close = () => void navigate({ search: {}, replace: true })
  const take = (key: ApiKey) => {
    setMade(key)
    close()
    void refresh('GET /api-keys')
  }
  return (
    <SettingsPage
      title="API keys"
      says="For scripts and tools: a key allows the paths that it names, under /rest."
      isForAdmins
      actions={<Button onClick={open}>Create key</Button>}
    >
      <Keys onCreate={open} onRenewed={take} />
      {create && <NewKey onClose={close} onCreated={take} />}
      {made && <OnlyOnce made={made} onClose={() => setMade(undefined)} />}
    </SettingsPage>
  )
}

interface KeysProps {
  readonly onCreate: () => void
  readonly onRenewed: (key: ApiKey) => void
}

function Keys({ onCreate, onRenewed }: KeysProps) {
  const keys = useQuery(question('GET /api-keys', { query: { pageSize: SHOWN } }))
  const [renewed, setRenewed] = useState<ApiKey>()
  const [deleted, setDeleted] = useState<ApiKey>()
  return (
    <>
      <Asked of={keys}>
        {({ count, apikeys }) =>
          count === 0 ? (
            <Empty
              title="No keys yet"
              action={
                <Button variant="default" onClick={onCreate}>
                  Create the first key
                </Button>
              }
            >
              A key lets a script read numbers or start runs without a person who signs in. Webhook connections have
              keys of their own.
            </Empty>
          ) : (
            <KeyTable keys={apikeys} count={count} onRenew={setRenewed} onDelete={setDeleted} />
          )
        }
      </Asked>
      {renewed && (
        <AskFirst
          title={`Renew ${renewed.name}?`}
          action="Renew key"
          onClose={() => setRenewed(undefined)}
          act={async () => onRenewed(await ask('PUT /api-keys/{id}', { path: { id: renewed.id } }))}
        >
          You get a new key with the same rights. The old one stops working at once, wherever it is in use.
        </AskFirst>
      )}
      {deleted && (
        <AskFirst
          title={`Delete ${deleted.name}?`}
          action="Delete key"
          onClose={() => setDeleted(undefined)}
          act={async () => {
            await ask('DELETE /api-keys/{id}', { path: { id: deleted.id } })
            await refresh('GET /api-keys')
          }}
        >
          Whoever uses this key is refused from now on. What was done with it stays, and so do its entries in the audit
          log.
        </AskFirst>
      )}
    </>
  )
}

interface KeyTableProps {
  readonly keys: readonly ApiKey[]
  readonly count: number
  readonly onRenew: (key: ApiKey) => void
  readonly onDelete: (key: ApiKey) => void
}

function KeyTable({ keys, count, onRenew, onDelete }: KeyTableProps) {
  return (
    <div className="card scroll">
      <Table heads={['Name', 'Opens', 'May', 'Ends', 'Created', ACTIONS]}>
        {keys.map((key) => (
          <tr key={key.id}>
            <td className="cut" style={{ fontWeight: 500, maxWidth: 240 }} title={key.name}>
              {key.name}
            </td>
            <td className="mono cut" style={{ maxWidth: 260 }} title={key.allowedPath}>
              {key.allowedPath}
            </td>
            <td>{mayOf(key)}</td>
            <td>
              <Ends at={key.expiredAt} />
            </td>
            <td>
              <Moment at={key.createdAt} />
              {key.creator && <span className="small quiet"> by {key.creator}</span>}
            </td>
            <td>
              <div className="buttons" style={{ flexWrap: 'nowrap' }}>
                <Button variant="default" size="compact-sm" onClick={() => onRenew(key)}>
                  Renew
                </Button>
                <Button variant="default" size="compact-sm" onClick={() => onDelete(key)}>
                  Delete
                </Button>
              </div>
            </td>
          </tr>
        ))}
      </Table>
      {count > keys.length && (
        <p className="small quiet" style={{ paddingTop: 12 }}>
          The newest {keys.length} of {count}.
        </p>
      )}
    </div>
  )
}

function mayOf({ role, projects = [] }: ApiKey): string {
  if (!role) return 'everything'
  return projects.length === 0 ? role : `${role} in ${projects.join(', ')}`
}

function Ends({ at }: { readonly at: string | null }) {
  if (!at) return <span className="faint">never</span>
  return new Date(at) < new Date() ? <span className="tag bad">ended</span> : <Moment at={at} />
}

function OnlyOnce({ made, onClose }: { readonly made: ApiKey; readonly onClose: () => void }) {
  return (
    <Modal opened onClose={onClose} title={`The key ${made.name}`} closeOnClickOutside={false} size="lg" centered>
      <div className="fields">
        <p>
          <b>Copy it now:</b> it is not shown again. Send it as <code className="mono">Authorization: Bearer KEY</code>{' '}
          to paths below <code className="mono">{location.origin}/rest</code>.
        </p>
        <code className="mono secret" data-testid="key">
          {made.apiKey}
        </code>
        <div className="buttons">
          <Copy text={made.apiKey ?? ''} label="Copy key" />
          <Button size="compact-sm" onClick={onClose}>
            I have it
          </Button>
        </div>
      </div>
    </Modal>
  )
}
