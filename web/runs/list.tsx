import { Button, Pagination, Select, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { Pipeline } from '../api/description.ts'
import { question } from '../api/queries.ts'
import { present } from '../parts/address.ts'
import { Asked, Empty, Moment, Page, State } from '../parts/parts.tsx'
import { CardTable, right } from '../parts/table.tsx'
import { counted, duration } from '../parts/words.ts'
import type { RunFilter } from './address.ts'
import './runs.css'

const place = getRouteApi('/runs')
const PAGE = 50
const EVERY_MS = 4_000
const TYPED_MS = 300

/** The states to filter by, and the query of each. */
const RUN_STATES = {
  going: { label: 'Waiting or running', query: { pending: 'true' } },
  done: { label: 'Done', query: { status: 'TASK_COMPLETED' } },
  part: { label: 'Partly done', query: { status: 'TASK_PARTIAL' } },
  failed: { label: 'Failed', query: { status: 'TASK_FAILED' } },
  cancelled: { label: 'Cancelled', query: { status: 'TASK_CANCELLED' } },
} as const
const stateOf = (word: string | undefined) =>
  word !== undefined && Object.hasOwn(RUN_STATES, word) ? RUN_STATES[word as keyof typeof RUN_STATES] : undefined

export function RunList() {
  const filter = place.useSearch()
  const { state, project, words, page = 1 } = filter
  const runs = useQuery({
    ...question('GET /pipelines', {
      query: present({ page, pageSize: PAGE, project, keyword: words, ...stateOf(state)?.query }),
    }),
    refetchInterval: EVERY_MS,
    placeholderData: (before) => before,
  })
  const isFiltered = state !== undefined || project !== undefined || words !== undefined
  return (
    <Page
      title="Runs"
      says="What was collected and calculated, when, and what went wrong."
      actions={
        <Button variant="default" renderRoot={(props) => <Link to="/runs/health" {...props} />}>
          What is missing
        </Button>
      }
    >
      <Filters filter={filter} />
      <Asked of={runs}>
        {({ count, pipelines }) =>
          pipelines.length > 0 ? (
            <>
              <RunTable runs={pipelines} />
              <Pages count={count} page={page} />
            </>
          ) : isFiltered ? (
            <Empty title="No run matches" action={<Link to="/runs">Show all runs</Link>}>
              Nothing fits the state, the project and the words at once.
            </Empty>
          ) : (
            <Empty title="Nothing has run yet" action={<Link to="/projects">Show projects</Link>}>
              A run begins by the schedule of a project, or when somebody chooses “Collect now” on its page. Then this
              page tells how far it is, what it brought and what needs you.
            </Empty>
          )
        }
      </Asked>
    </Page>
  )
}

type Change = { readonly [Name in keyof RunFilter]?: RunFilter[Name] | undefined }

function useFilter() {
  const navigate = place.useNavigate()
  // A changed filter starts at the first page.
  return (change: Change) =>
    void navigate({ search: (before) => present({ ...before, page: undefined, ...change }), replace: true })
}

function Filters({ filter: { state, project, words } }: { readonly filter: RunFilter }) {
  const change = useFilter()
  const projects = useQuery(question('GET /projects', { query: { pageSize: 200 } }))
  const search = useDebouncedCallback((typed: string) => change({ words: typed.trim() || undefined }), TYPED_MS)
  const names = (projects.data?.projects ?? []).map(({ name }) => name)
  return (
    <div className="filters">
      <TextInput
        aria-label="Find runs"
        placeholder="Name or number"
        defaultValue={words ?? ''}
        onChange={({ currentTarget }) => search(currentTarget.value)}
        maxLength={200}
      />
      <Select
        aria-label="State"
        placeholder="Any state"
        data={Object.entries(RUN_STATES).map(([value, { label }]) => ({ value, label }))}
        value={state ?? null}
        onChange={(value) => change({ state: value ?? undefined })}
        clearable
      />
      <Select
        aria-label="Project"
        placeholder="Any project"
        data={project !== undefined && !names.includes(project) ? [project, ...names] : names}
        value={project ?? null}
        onChange={(value) => change({ project: value ?? undefined })}
        searchable
        clearable
        nothingFoundMessage="No project has this name."
      />
    </div>
  )
}

function Pages({ count, page }: { readonly count: number; readonly page: number }) {
  const change = useFilter()
  const pages = Math.ceil(count / PAGE)
  return (
    <div className="pages">
      <span className="small quiet">{counted(count, 'run')}</span>
      {pages > 1 && (
        <Pagination
          size="sm"
          total={pages}
          value={page}
          onChange={(next) => change({ page: next })}
          getControlProps={(control) => ({ 'aria-label': `${control} page` })}
        />
      )}
    </div>
  )
}

function RunTable({ runs }: { readonly runs: readonly Pipeline[] }) {
  return (
    <CardTable heads={['Run', 'State', right('Tasks ended'), right('Took'), 'Began', 'Message']}>
      {runs.map((run) => (
        <tr key={run.id}>
          <td style={{ maxWidth: 280 }}>
            <div className="cut" title={run.name}>
              <Link to="/runs/$id" params={{ id: String(run.id) }} style={{ fontWeight: 500 }}>
                {run.name || 'A plan by hand'}
              </Link>{' '}
              <span className="faint number">{run.id}</span>
            </div>
          </td>
          <td>
            <State of={run.status} />
          </td>
          <td className="right">
            {run.finishedTasks} of {run.totalTasks}
          </td>
          <td className="right">{run.spentSeconds > 0 ? duration(run.spentSeconds / 60) : ''}</td>
          <td style={{ whiteSpace: 'nowrap' }}>
            {run.beganAt ? <Moment at={run.beganAt} /> : <span className="faint">not yet</span>}
          </td>
          <td className="quiet small" style={{ maxWidth: 320 }}>
            <div className="cut" title={run.message}>
              {run.message.split('\n')[0]}
            </div>
          </td>
        </tr>
      ))}
    </CardTable>
  )
}
