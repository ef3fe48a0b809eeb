import { Button, Drawer, Select, TextInput } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { AnswerTo, Given } from '../api/ask.ts'
import { question } from '../api/queries.ts'
import { Asked, Empty, Moment } from '../parts/parts.tsx'
import { CardTable, Table } from '../parts/table.tsx'
import { counted } from '../parts/words.ts'
import type { AuditSearch } from './address.ts'
import { SettingsPage } from './settings-page.tsx'

const place = getRouteApi('/settings/audit')
const PAGE = 50
type Entry = AnswerTo<'GET /v1/audit'>['entries'][number]
type Query = NonNullable<Given<'GET /v1/audit'>['query']>

const ACTIONS: Readonly<Record<Entry['action'], string>> = {
  create: 'created',
  update: 'changed',
  delete: 'deleted',
  adopt: 'adopted',
  push: 'sent',
  run: 'started',
  rerun: 'started again',
  cancel: 'cancelled',
  'sign-in': 'signed in',
  'sign-in failed': 'failed to sign in',
  'sign-out': 'signed out',
}

export function AuditPage() {
  const { page = 1, entry: _open, ...filter } = place.useSearch()
  const query = { ...filter, page, pageSize: PAGE } as Query
  const entries = useQuery({ ...question('GET /v1/audit', { query }), placeholderData: keepPreviousData })
  const exported = `/api/v1/audit/export?${new URLSearchParams(filter as Record<string, string>)}`
  return (
    <SettingsPage
      title="Audit log"
      says="Every change, run and sign-in: who, when, and how it was before. Secrets are masked."
      isForAdmins
      actions={
        <Button variant="default" component="a" href={exported} download="audit.jsonl">
          Export as JSON lines
        </Button>
      }
    >
      <Filters />
      <Asked of={entries}>
        {(data) => (
          <>
            {data.count === 0 ? (
              <Nothing isFiltered={Object.keys(filter).length > 0} />
            ) : (
              <Entries entries={data.entries} />
            )}
            <Pages page={page} count={data.count} />
            <Opened entries={data.entries} />
          </>
        )}
      </Asked>
    </SettingsPage>
  )
}

const Nothing = ({ isFiltered }: { readonly isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title="No entry matches">No entry has all of what you chose. Names are compared as a whole.</Empty>
  ) : (
    <Empty title="Nothing has happened yet">The first change, run or sign-in will stand here.</Empty>
  )

/** Typed text takes effect on leaving the field or with Enter, so that the address changes once and not with every letter. */
function Filters() {
  const { page: _page, entry: _entry, ...filter } = place.useSearch()
  const navigate = place.useNavigate()
  const set = (change: Partial<Record<keyof AuditSearch, string>>) =>
    void navigate({
      search: Object.fromEntries(
        Object.entries({ ...filter, ...change }).filter(([, value]) => value !== undefined && value !== ''),
      ) as AuditSearch,
    })
  const field = (name: 'actorId' | 'subject' | 'subjectKey', label: string, placeholder: string) => (
    <TextInput
      key={`${name} ${filter[name] ?? ''}`}
      label={label}
      placeholder={placeholder}
      defaultValue={filter[name] ?? ''}
      onBlur={({ currentTarget }) =>
        currentTarget.value !== (filter[name] ?? '') && set({ [name]: currentTarget.value })
      }
      onKeyDown={({ key, currentTarget }) => key === 'Enter' && set({ [name]: currentTarget.value })}
      style={{ flex: '1 1 160px' }}
    />
  )
  return (
    <search style={{ display: 'flex', flexWrap: 'wrap', gap: 12, alignItems: 'flex-end', marginBottom: 16 }}>
      <Select
        label="What was done"
        placeholder="Anything"
        data={Object.entries(ACTIONS).map(([value, label]) => ({ value, label }))}
        value={filter.action ?? null}
        onChange={(value) => set({ action: value ?? '' })}
        clearable
        style={{ flex: '1 1 160px' }}
      />
      {field('subject', 'Kind of thing', 'github connection')}
      {field('subjectKey', 'Its name or id', 'shop')}
      {field('actorId', 'Who', 'token:ci')}
      {Object.keys(filter).length > 0 && (
        <Button variant="default" onClick={() => void navigate({ search: {} })}>
          Show all
        </Button>
      )}
    </search>
  )
}

function Entries({ entries }: { readonly entries: readonly Entry[] }) {
  const navigate = place.useNavigate()
  return (
    <CardTable heads={['When', 'Who', 'What', 'From']}>
      {entries.map((entry) => (
        <tr key={entry.id}>
          <td style={{ whiteSpace: 'nowrap' }}>
            <Moment at={entry.createdAt} />
          </td>
          <td className="cut" style={{ maxWidth: 220 }} title={entry.actorId}>
            {entry.actor || entry.actorEmail || entry.actorId}
          </td>
          <td className="cut" style={{ maxWidth: 420 }}>
            <button
              type="button"
              className="link"
              onClick={() => void navigate({ search: (before) => ({ ...before, entry: entry.id }) })}
            >
              {ACTIONS[entry.action]} {entry.subject} <b>{entry.subjectKey}</b>
            </button>
          </td>
          <td className="mono quiet">{entry.address}</td>
        </tr>
      ))}
    </CardTable>
  )
}

function Pages({ page, count }: { readonly page: number; readonly count: number }) {
  const navigate = place.useNavigate()
  const last = Math.max(1, Math.ceil(count / PAGE))
  const go = (to: number) => () => void navigate({ search: (before) => ({ ...before, page: to }) })
  if (last === 1 && page === 1) return null
  return (
    <div className="row" style={{ alignItems: 'center', marginTop: 16 }}>
      <span className="small quiet number">
        Page {page} of {last}, {counted(count, 'entry', 'entries')}
      </span>
      <div className="buttons">
        <Button variant="default" size="compact-sm" disabled={page <= 1} onClick={go(page - 1)}>
          Newer
        </Button>
        <Button variant="default" size="compact-sm" disabled={page >= last} onClick={go(page + 1)}>
          Older
        </Button>
      </div>
    </div>
  )
}

function Opened({ entries }: { readonly entries: readonly Entry[] }) {
  const { entry: id } = place.useSearch()
  const navigate = place.useNavigate()
  const entry = entries.find((each) => each.id === id)
  const close = () => void navigate({ search: ({ entry: _, ...rest }) => rest })
  return (
    <Drawer
      opened={id !== undefined}
      onClose={close}
      position="right"
      size="lg"
      title={entry ? `${entry.subject} ${entry.subjectKey}` : 'Not on this page'}
    >
      {entry ? (
        <div className="fields">
          <p className="quiet" style={{ overflowWrap: 'anywhere' }}>
            {entry.actor || entry.actorId} {entry.actorEmail && `(${entry.actorEmail})`} {ACTIONS[entry.action]} it{' '}
            <Moment at={entry.createdAt} />
            {entry.address && ` from ${entry.address}`}. Known as <code className="mono">{entry.actorId}</code>.
          </p>
          <Changes before={entry.stateBefore} after={entry.stateAfter} />
        </div>
      ) : (
        <p className="quiet">Other entries have come since: look on the next page, or filter.</p>
      )}
    </Drawer>
  )
}

const shown = (value: unknown) => (value === undefined ? '' : JSON.stringify(value))
const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

/** Compares field by field if both objects exist; otherwise shows the one that exists. */
function Changes({ before, after }: { readonly before: unknown; readonly after: unknown }) {
  if (!isObject(before) || !isObject(after)) {
    const only = after ?? before
    if (only === null || only === undefined) return <p className="faint">Nothing more is known.</p>
    return (
      <section>
        <h3 style={{ marginBottom: 8 }}>{after === null || after === undefined ? 'Before' : 'After'}</h3>
        <pre className="code wrap">{JSON.stringify(only, null, 2)}</pre>
      </section>
    )
  }
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const changed = names.filter((name) => shown(before[name]) !== shown(after[name]))
  return (
    <Table heads={['Field', 'Before', 'After']}>
      {changed.map((name) => (
        <tr key={name}>
          <td className="mono">{name}</td>
          <td className="mono quiet" style={{ overflowWrap: 'anywhere' }}>
            {shown(before[name])}
          </td>
          <td className="mono" style={{ overflowWrap: 'anywhere' }}>
            {shown(after[name])}
          </td>
        </tr>
      ))}
    </Table>
  )
}
