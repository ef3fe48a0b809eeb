import { Button, NativeSelect, Skeleton, TextInput, VisuallyHidden } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef, useState } from 'react'
import { ask } from '../api/ask.ts'
import type { Project } from '../api/description.ts'
import { useMay } from '../frame/sign-in.tsx'
import { Asked, Band, Empty, Moment, Page, State } from '../parts/parts.tsx'
import { count as countWords } from '../parts/words.ts'
import type { Sort } from './address.ts'
import { NewProject } from './create.tsx'
import { NoGrade } from './figure.tsx'
import { bandOf, isEmpty, KEYS, type Key, keysQuestion, periods, saidText } from './keys.ts'
import { Sparkline } from './sparkline.tsx'

const place = getRouteApi('/projects')
const PAGE = 25
const MONTHS = 6
const ROW = 74

function useProjects(find: string, sort: Sort) {
  return useInfiniteQuery({
    queryKey: ['GET /projects', 'pages', { find, sort }],
    queryFn: ({ pageParam, signal }) =>
      ask(
        'GET /projects',
        { query: { page: pageParam, pageSize: PAGE, sort, ...(find && { keyword: find }) } },
        signal,
      ),
    initialPageParam: 1,
    getNextPageParam: ({ count }, pages) => (pages.length * PAGE < count ? pages.length + 1 : undefined),
    placeholderData: (before) => before,
  })
}

export function ProjectList() {
  const { find = '', sort = 'newest', new: isNew } = place.useSearch()
  const navigate = place.useNavigate()
  const isAdmin = useMay('admin')
  const projects = useProjects(find, sort)
  const count = projects.data?.pages[0]?.count ?? 0
  const open = () => void navigate({ search: (before) => ({ ...before, new: true }) })
  return (
    <Page
      title="Projects"
      says="How fast and how safely each of them reaches production."
      actions={
        <>
          <Button variant="subtle" component={Link} to="/blueprints">
            All blueprints
          </Button>
          {isAdmin && <Button onClick={open}>New project</Button>}
        </>
      }
    >
      {(count > 0 || find !== '') && <Controls find={find} sort={sort} count={count} />}
      <Asked of={projects}>
        {({ pages }) =>
          count === 0 ? (
            <Nothing find={find} onNew={isAdmin ? open : undefined} />
          ) : (
            <Rows
              pages={pages.map((page) => page.projects)}
              more={projects.hasNextPage && !projects.isFetchingNextPage ? projects.fetchNextPage : undefined}
            />
          )
        }
      </Asked>
      {isAdmin && (
        <NewProject
          isOpen={isNew === true}
          onClose={() => void navigate({ search: ({ new: _, ...rest }) => rest, replace: true })}
        />
      )}
    </Page>
  )
}

function Controls({ find, sort, count }: { readonly find: string; readonly sort: Sort; readonly count: number }) {
  const navigate = place.useNavigate()
  const [words, setWords] = useState(find)
  const look = useDebouncedCallback((next: string) => {
    void navigate({
      search: ({ find: _, ...rest }) => ({ ...rest, ...(next.trim() && { find: next.trim() }) }),
      replace: true,
    })
  }, 200)
  return (
    <div className="row" style={{ marginBottom: 16, flexWrap: 'wrap', alignItems: 'center' }}>
      <div className="actions" style={{ flexWrap: 'nowrap', flexShrink: 1, minWidth: 0 }}>
        <TextInput
          placeholder="Find a project"
          aria-label="Find a project"
          value={words}
          maxLength={100}
          style={{ minWidth: 0 }}
          onChange={({ currentTarget: { value } }) => {
            setWords(value)
            look(value)
          }}
        />
        <NativeSelect
          aria-label="Sort"
          value={sort}
          data={[
            { value: 'newest', label: 'Newest first' },
            { value: 'oldest', label: 'Oldest first' },
            { value: 'name', label: 'By name' },
          ]}
          onChange={({ currentTarget: { value } }) =>
            void navigate({ search: (before) => ({ ...before, sort: value as Sort }), replace: true })
          }
        />
      </div>
      <span className="small quiet number">
        {countWords(count)} {count === 1 ? 'project' : 'projects'}, last {MONTHS} months
      </span>
    </div>
  )
}

function Nothing({ find, onNew }: { readonly find: string; readonly onNew: (() => void) | undefined }) {
  if (find)
    return (
      <Empty title={`No project is called “${find}”`} action={<Link to="/projects">Show all projects</Link>}>
        A name fits when these letters stand anywhere in it, large or small.
      </Empty>
    )
  return (
    <Empty
      title="No project yet"
      action={
        <div className="actions">
          <Button variant="default" component={Link} to="/start">
            Take the guided start
          </Button>
          {onNew && (
            <Button variant="subtle" onClick={onNew}>
              Only create a project
            </Button>
          )}
        </div>
      }
    >
      A project is what a team ships: its repositories, boards and deployments. Connect where they live, choose them,
      and the four keys of the project appear here.
    </Empty>
  )
}

interface RowsProps {
  readonly pages: readonly (readonly Project[])[]
  readonly more: (() => unknown) | undefined
}

/** Only visible rows are drawn, however many projects there are. */
function Rows({ pages, more }: RowsProps) {
  const body = useRef<HTMLDivElement>(null)
  const rows = pages.flatMap((projects, page) => projects.map((project) => ({ project, page })))
  const rolling = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW,
    overscan: 8,
    getItemKey: (index) => rows[index]?.project.name ?? index,
    scrollMargin: body.current?.offsetTop ?? 0,
  })
  const drawn = rolling.getVirtualItems()
  const last = drawn.at(-1)
  const isNearEnd = last !== undefined && last.index >= rows.length - 5
  useEffect(() => {
    if (isNearEnd) more?.()
  }, [isNearEnd, more])
  const above = (drawn[0]?.start ?? 0) - rolling.options.scrollMargin
  const below = rolling.getTotalSize() - ((last?.end ?? 0) - rolling.options.scrollMargin)
  return (
    <div className="card" ref={body} style={{ padding: '8px 20px' }}>
      <table className="plain projects">
        <thead>
          <tr>
            <th style={{ minWidth: 200 }}>Project</th>
            {KEYS.map(({ name, title }) => (
              <th key={name}>{title}</th>
            ))}
            <th className="last">Last run</th>
          </tr>
        </thead>
        <tbody>
          {above > 0 && <Space height={above} />}
          {drawn.map(({ index }) => {
            const row = rows[index]
            const names = pages[row?.page ?? 0]?.map(({ name }) => name) ?? []
            return (
              row && (
                <Row
                  key={row.project.name}
                  place={index}
                  measure={rolling.measureElement}
                  project={row.project}
                  names={names}
                />
              )
            )
          })}
          {below > 0 && <Space height={below} />}
        </tbody>
      </table>
    </div>
  )
}

const Space = ({ height }: { readonly height: number }) => (
  <tr className="space">
    <td style={{ height }} />
  </tr>
)

interface RowProps {
  readonly place: number
  /** Measures the row, whose height depends on its text. */
  readonly measure: (row: HTMLTableRowElement | null) => void
  readonly project: Project
  /** The projects on the same page of the list: their keys are loaded together. */
  readonly names: readonly string[]
}

function Row({ place: index, measure, project: { name, description, lastPipeline }, names }: RowProps) {
  const { data, isError } = useQuery({
    ...keysQuestion(names, periods(MONTHS).current, MONTHS),
    staleTime: 60_000,
  })
  const keys = data?.projects.find(({ project }) => project === name)?.keys
  return (
    <tr className="project" ref={measure} data-index={index}>
      <td className="name" style={{ maxWidth: 280 }}>
        <Link
          to="/projects/$name"
          params={{ name }}
          className="cut"
          style={{ display: 'block', fontWeight: 500 }}
          title={name}
        >
          <bdi>{name}</bdi>
        </Link>
        {description && (
          <div className="small quiet cut" title={description}>
            <bdi>{description}</bdi>
          </div>
        )}
      </td>
      {KEYS.map((key) => (
        <td key={key.name} className="figure" data-title={key.title}>
          <Figure
            project={name}
            metric={key.name}
            title={key.title}
            value={keys?.find(({ metric }) => metric === key.name)}
            isLost={isError}
          />
        </td>
      ))}
      <td className="last small">
        {lastPipeline ? (
          <Link to="/runs/$id" params={{ id: String(lastPipeline.id) }}>
            <State of={lastPipeline.status} />{' '}
            <Moment at={lastPipeline.finishedAt ?? lastPipeline.beganAt ?? lastPipeline.createdAt} />
          </Link>
        ) : (
          <span className="faint">never</span>
        )}
      </td>
    </tr>
  )
}

interface FigureProps {
  readonly project: string
  readonly metric: string
  readonly title: string
  readonly value: Key | undefined
  readonly isLost: boolean
}

function Figure({ project, metric, title, value: key, isLost }: FigureProps) {
  if (!key) return isLost ? <span className="small faint">not known</span> : <Skeleton height={14} width={88} />
  const band = bandOf(key)
  return (
    <Link to="/projects/$name" params={{ name: project }} search={{ explain: metric }}>
      <VisuallyHidden>
        Explain {title} of {project}:{' '}
      </VisuallyHidden>
      {key.value === null || isEmpty(key) ? (
        <span className="small faint">no data</span>
      ) : (
        <>
          <span className="number">{saidText(key.value, key.unit, key.inWords)}</span>
          <Sparkline points={key.points.map((point) => point.value)} isBars={key.unit === 'days per week'} />
          {band ? <Band band={band} /> : <NoGrade of={key} isShort />}
        </>
      )}
    </Link>
  )
}
