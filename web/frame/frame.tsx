import './frame.css'
import { useQuery } from '@tanstack/react-query'
import { Link, Outlet } from '@tanstack/react-router'
import { type ReactNode, useRef } from 'react'
import { question } from '../api/queries.ts'
import { Empty, isUnfinished, Page } from '../parts/parts.tsx'
import { Away, SessionEnded } from './interruptions.tsx'
import { Palette } from './palette.tsx'
import { BottomBar, Rail, useFolded } from './rail.tsx'
import { SignIn, useAccess } from './sign-in.tsx'

export function Frame() {
  const { data: access, isPending } = useAccess()
  const [isFolded] = useFolded()
  const wasIn = useRef(false)
  if (isPending) return null
  const isIn = access?.roles.length !== 0
  if (isIn) wasIn.current = true
  // If the server does not answer, the page shows what it can; its parts say what is wrong.
  else if (!wasIn.current) return <SignIn />
  return (
    <div className={isFolded ? 'frame folded' : 'frame'}>
      <a href="#content" className="skip">
        To the content
      </a>
      <Rail />
      <div style={{ minWidth: 0 }}>
        <Away />
        <Now />
        <main id="content" tabIndex={-1}>
          <Outlet />
        </main>
      </div>
      <BottomBar />
      <Palette />
      {!isIn && <SessionEnded />}
    </div>
  )
}

const EVERY_MS = 4_000

/** The run in progress, shown on every page. */
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
          {run.totalTasks} tasks ended
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
