import { useQuery } from '@tanstack/react-query'
import { Link, Outlet } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { question } from '../api/queries.ts'
import { Empty, isUnfinished, Page } from '../parts/parts.tsx'
import { Palette, searchKeys } from './palette.tsx'
import { SignIn, useAccess } from './sign-in.tsx'

export const PLACES = [
  { to: '/', title: 'Overview', icon: 'M3 9.5 10 3l7 6.5M5 8v8.5h10V8' },
  { to: '/projects', title: 'Projects', icon: 'M3 12 8 6l4 4 5-7' },
  {
    to: '/sources',
    title: 'Sources',
    icon: 'M4 5c0-3 12-3 12 0v10c0 3-12 3-12 0zM4 5c0 3 12 3 12 0M4 10c0 3 12 3 12 0',
  },
  { to: '/runs', title: 'Runs', icon: 'M6 4v12l10-6z' },
  { to: '/data', title: 'Data', icon: 'M10 3l7 3.5-7 3.5-7-3.5zM3 10l7 3.5 7-3.5M3 13.5 10 17l7-3.5' },
  { to: '/traffic', title: 'Traffic', icon: 'M3 6h9l-3-3M12 6l-3 3M17 14H8l3-3M8 14l3 3' },
  { to: '/settings', title: 'Settings', icon: 'M3 6h8M15 6h2M3 14h2M9 14h8M13 4v4M7 12v4' },
] as const

const Icon = ({ path }: { readonly path: string }) => (
  <svg
    width="18"
    height="18"
    viewBox="0 0 20 20"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.6"
    aria-hidden="true"
  >
    <path d={path} strokeLinecap="round" strokeLinejoin="round" />
  </svg>
)

const MARK = 'M2 6c3-3 5 3 8 0s5 3 8 0M2 11c3-3 5 3 8 0s5 3 8 0M10 15v4M5 15v2M15 15v2'

export function Frame() {
  const { data: access, isPending } = useAccess()
  if (isPending) return null
  // Without an answer the page shows what it can: its parts say what is wrong.
  if (access?.roles.length === 0) return <SignIn />
  return (
    <div className="frame">
      <Rail />
      <div style={{ minWidth: 0 }}>
        <Now />
        <main>
          <Outlet />
        </main>
      </div>
      <Palette />
    </div>
  )
}

function Rail() {
  const { data } = useQuery(question('GET /version'))
  return (
    <nav className="rail" aria-label="Main">
      <Link to="/" className="brand">
        <Icon path={MARK} /> Weir
      </Link>
      <button type="button" className="search" onClick={() => searchKeys.open()}>
        Go to… <kbd className="mono">Ctrl K</kbd>
      </button>
      {PLACES.map(({ to, title, icon }) => (
        <Link
          key={to}
          to={to}
          className="place"
          activeProps={{ 'aria-current': 'page' }}
          activeOptions={{ exact: to === '/' }}
        >
          <Icon path={icon} /> {title}
        </Link>
      ))}
      <div className="foot">
        Weir {data?.version}
        <br />
        <a href="/swagger">Interface description</a>
      </div>
    </nav>
  )
}

const EVERY_MS = 4_000

/** What runs now, on every page. */
function Now(): ReactNode {
  const { data } = useQuery({
    ...question('GET /pipelines', { query: { pageSize: 5 } }),
    refetchInterval: EVERY_MS,
  })
  const run =
    data?.pipelines.find(({ status }) => status === 'TASK_RUNNING') ??
    data?.pipelines.find(({ status }) => isUnfinished(status))
  if (!run) return null
  const done = run.totalTasks === 0 ? 0 : run.finishedTasks / run.totalTasks
  return (
    <div className="now">
      <div className="bar">
        <i style={{ width: `${Math.max(2, done * 100)}%` }} />
      </div>
      <p className="row" role="status">
        <span className="cut">
          {run.status === 'TASK_RUNNING' ? 'Collecting' : 'Waiting:'} <b>{run.name}</b>, {run.finishedTasks} of{' '}
          {run.totalTasks} tasks done
        </span>
        <Link to="/runs/$id" params={{ id: String(run.id) }}>
          Show run
        </Link>
      </p>
    </div>
  )
}

export function Lost() {
  return (
    <Page title="No such page" says="The address leads nowhere.">
      <Empty title="It may have been renamed or deleted" action={<Link to="/projects">Show all projects</Link>}>
        Press Ctrl K to look for a project, a source or a run.
      </Empty>
    </Page>
  )
}
