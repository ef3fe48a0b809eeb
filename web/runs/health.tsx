import { Button, Pagination, Select, Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { QuarantinedRecord, Receipt } from '../api/description.ts'
import { question } from '../api/queries.ts'
import { useMay } from '../frame/sign-in.tsx'
import { present } from '../parts/address.ts'
import { Asked, Empty, Moment, Page } from '../parts/parts.tsx'
import { ACTIONS, CardTable, right } from '../parts/table.tsx'
import { count, counted } from '../parts/words.ts'
import type { HealthFilter } from './address.ts'
import { FailedTasks, useFailedTasks } from './failed-tasks.tsx'
import './runs.css'
import { gapSentence, useDrive } from './scope-health.tsx'
import { Stored, stepWords } from './steps.tsx'

const place = getRouteApi('/runs/health')
const PAGE = 50

type Change = { readonly [Name in keyof HealthFilter]?: HealthFilter[Name] | undefined }
function useFilter() {
  const navigate = place.useNavigate()
  return (change: Change) =>
    void navigate({ search: (before) => present({ ...before, page: undefined, ...change }), replace: true })
}

const asked = ({ project, plugin, connectionId, scopeId }: HealthFilter) =>
  project !== undefined ? { project } : present({ plugin, connectionId, scopeId })

export function HealthPage() {
  const filter = place.useSearch()
  const change = useFilter()
  const { show = 'gaps' } = filter
  const receipts = useQuery(question('GET /v1/receipts', { query: asked(filter) }))
  const aside = useQuery(question('GET /v1/quarantine', { query: { ...asked(filter), pageSize: 1 } }))
  const incomplete = receipts.data?.receipts.filter(({ status }) => status !== 'complete')
  return (
    <Page
      title="What is missing"
      says="What sources have and Weir does not: tasks that failed, lists that came in part, and records that could not be read."
    >
      <Filters filter={filter} />
      <FailedTasks filter={filter} />
      <Tabs value={show} onChange={(value) => change({ show: value === 'gaps' ? undefined : (value as 'receipts') })}>
        <Tabs.List mb={16}>
          <Tabs.Tab value="gaps">Gaps{incomplete && ` (${count(incomplete.length)})`}</Tabs.Tab>
          <Tabs.Tab value="aside">Put aside{aside.data && ` (${count(aside.data.count)})`}</Tabs.Tab>
          <Tabs.Tab value="receipts">All receipts{receipts.data && ` (${count(receipts.data.count)})`}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="gaps">
          <Asked of={receipts}>{() => <Gaps receipts={incomplete ?? []} filter={filter} />}</Asked>
        </Tabs.Panel>
        <Tabs.Panel value="aside">
          <Aside filter={filter} />
        </Tabs.Panel>
        <Tabs.Panel value="receipts">
          <Asked of={receipts}>{(data) => <Receipts receipts={data.receipts} page={filter.page ?? 1} />}</Asked>
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}

function Filters({ filter }: { readonly filter: HealthFilter }) {
  const change = useFilter()
  const projects = useQuery(question('GET /projects', { query: { pageSize: 200 } }))
  const sources = useQuery(question('GET /v1/sources'))
  const names = (projects.data?.projects ?? []).map(({ name }) => name)
  const { project, plugin, scopeId } = filter
  return (
    <div className="filters two">
      <Select
        aria-label="Project"
        placeholder="Any project"
        data={project !== undefined && !names.includes(project) ? [project, ...names] : names}
        value={project ?? null}
        onChange={(value) =>
          change({ project: value ?? undefined, plugin: undefined, connectionId: undefined, scopeId: undefined })
        }
        searchable
        clearable
      />
      <Select
        aria-label="Source"
        placeholder="Any source"
        data={(sources.data ?? []).map((source) => ({ value: source.plugin, label: source.title }))}
        value={plugin ?? null}
        onChange={(value) =>
          change({ plugin: value ?? undefined, project: undefined, connectionId: undefined, scopeId: undefined })
        }
        clearable
      />
      {scopeId !== undefined && (
        <Button variant="default" onClick={() => change({ connectionId: undefined, scopeId: undefined })}>
          Only one scope · show all
        </Button>
      )}
    </div>
  )
}

/** Offers a run for everything that the filter shows, but only for a project: a source may have thousands of scopes. */
function DriveProject({ filter, what }: { readonly filter: HealthFilter; readonly what: 'gaps' | 'aside' }): ReactNode {
  const may = useMay('operator')
  const drive = useDrive(what === 'gaps' ? 'POST /v1/gaps/ask-again' : 'POST /v1/quarantine/redrive')
  const { project } = filter
  if (!may || project === undefined) return null
  return (
    <Button variant="default" loading={drive.isPending} onClick={() => drive.mutate({ project })}>
      {what === 'gaps' ? `Ask again for all of ${project}` : `Try all of ${project} again`}
    </Button>
  )
}

const keyOf = ({ plugin, connectionId, scopeId, rawTable, subtask }: Receipt) =>
  `${plugin} ${connectionId} ${scopeId} ${rawTable} ${subtask}`

function Gaps({ receipts, filter }: { readonly receipts: readonly Receipt[]; readonly filter: HealthFilter }) {
  const may = useMay('operator')
  const askAgain = useDrive('POST /v1/gaps/ask-again')
  const failed = useFailedTasks(filter)
  if (receipts.length === 0 && failed === undefined) return null
  if (receipts.length === 0)
    return (
      <Empty title={failed?.length === 0 ? 'Nothing is missing' : 'No list came in part'}>
        {failed?.length === 0
          ? 'The last runs finished all their tasks, and of every list that was asked for, all came that the source says it has.'
          : 'Of every list that was asked for, all came that the source says it has. What the tasks above would have brought is missing.'}{' '}
        What comes in part will be listed here, with the reason and a button that asks again.
      </Empty>
    )
  return (
    <>
      <div className="pages" style={{ margin: '0 0 12px' }}>
        <span className="small quiet">{counted(receipts.length, 'list')} came in part, or not at all.</span>
        <DriveProject filter={filter} what="gaps" />
      </div>
      <div className="card">
        {receipts.slice(0, PAGE * 4).map((receipt) => (
          <div key={keyOf(receipt)} className="row health">
            <div style={{ minWidth: 0 }}>
              <h3 className="cut" title={receipt.scopeName}>
                {receipt.scopeName} <span className="faint">· {stepWords(receipt.subtask)}</span>
              </h3>
              {receipt.gaps.length === 0 && receipt.message && <p className="quiet small message">{receipt.message}</p>}
              {receipt.gaps.slice(0, 5).map((gap) => (
                <p key={`${gap.kind} ${gap.address} ${gap.reason}`} className="quiet small message">
                  {gapSentence(gap)}
                </p>
              ))}
              {receipt.gaps.length > 5 && <p className="faint small">and {receipt.gaps.length - 5} more</p>}
            </div>
            <div className="actions">
              <Stored receipt={receipt} />
              {may && (
                <Button
                  variant="default"
                  size="compact-sm"
                  disabled={askAgain.isPending}
                  onClick={() => askAgain.mutate(scopeOf(receipt))}
                >
                  Ask again
                </Button>
              )}
            </div>
          </div>
        ))}
      </div>
    </>
  )
}

const scopeOf = ({ source, connectionId, scopeId }: Receipt | QuarantinedRecord) => ({
  plugin: source,
  connectionId,
  scopeId,
})

function Aside({ filter }: { readonly filter: HealthFilter }) {
  const may = useMay('operator')
  const redrive = useDrive('POST /v1/quarantine/redrive')
  const change = useFilter()
  const page = filter.page ?? 1
  const records = useQuery({
    ...question('GET /v1/quarantine', { query: { ...asked(filter), page, pageSize: PAGE } }),
    placeholderData: (before) => before,
  })
  return (
    <Asked of={records}>
      {(data) =>
        data.records.length === 0 ? (
          <Empty title="Nothing was put aside">
            Every record could be read. One that cannot waits here with the reason, and the rest of its run continues.
          </Empty>
        ) : (
          <>
            <div className="pages" style={{ margin: '0 0 12px' }}>
              <span className="small quiet">{counted(data.count, 'record')} could not be used, newest first.</span>
              <DriveProject filter={filter} what="aside" />
            </div>
            <CardTable heads={['Scope', 'Step', 'Reason', 'Since', ACTIONS]}>
              {data.records.map((record) => (
                <tr key={`${record.rawTable} ${record.rawId} ${record.subtask} ${record.recordKey}`}>
                  <td style={{ maxWidth: 200 }} className="cut" title={record.scopeName}>
                    {record.scopeName}
                  </td>
                  <td>{stepWords(record.subtask)}</td>
                  <td className="quiet message" style={{ maxWidth: 420 }}>
                    {record.reason}
                  </td>
                  <td style={{ whiteSpace: 'nowrap' }}>
                    <Moment at={record.updatedAt} />
                  </td>
                  <td className="right" style={{ whiteSpace: 'nowrap' }}>
                    <Link
                      to="/data"
                      search={{
                        ...scopeOf(record),
                        table: record.rawTable,
                        record: `${record.rawTable}:${record.rawId}`,
                      }}
                    >
                      Show record
                    </Link>{' '}
                    {may && (
                      <Button
                        variant="subtle"
                        size="compact-sm"
                        disabled={redrive.isPending}
                        onClick={() => redrive.mutate(scopeOf(record))}
                      >
                        Try again
                      </Button>
                    )}
                  </td>
                </tr>
              ))}
            </CardTable>
            <Pages count={data.count} page={page} go={(next) => change({ page: next })} />
          </>
        )
      }
    </Asked>
  )
}

interface PagesProps {
  readonly count: number
  readonly page: number
  readonly go: (page: number) => void
}

function Pages({ count: all, page, go }: PagesProps): ReactNode {
  const pages = Math.ceil(all / PAGE)
  if (pages <= 1) return null
  return (
    <div className="pages">
      <span />
      <Pagination
        size="sm"
        total={pages}
        value={page}
        onChange={go}
        getControlProps={(control) => ({ 'aria-label': `${control} page` })}
      />
    </div>
  )
}

function Receipts({ receipts, page }: { readonly receipts: readonly Receipt[]; readonly page: number }) {
  const change = useFilter()
  if (receipts.length === 0)
    return (
      <Empty title="No receipt yet" action={<Link to="/projects">Show projects</Link>}>
        When something was collected, a receipt says for every list what was asked for, what the source has, and what
        was stored.
      </Empty>
    )
  return (
    <>
      <CardTable heads={['Scope', 'List', right('Stored of existing'), right('Requests'), 'All came']}>
        {receipts.slice((page - 1) * PAGE, page * PAGE).map((receipt) => (
          <tr key={keyOf(receipt)}>
            <td style={{ maxWidth: 280 }} className="cut" title={receipt.scopeName}>
              {receipt.scopeName}
            </td>
            <td>{stepWords(receipt.subtask)}</td>
            <td className="right">
              <Stored receipt={receipt} />
            </td>
            <td className="right">{count(receipt.requests)}</td>
            <td style={{ whiteSpace: 'nowrap' }}>
              <Moment at={receipt.lastSuccessAt} />
            </td>
          </tr>
        ))}
      </CardTable>
      <Pages count={receipts.length} page={page} go={(next) => change({ page: next })} />
    </>
  )
}
