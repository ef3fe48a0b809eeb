import './start.css'
import { Button } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type ReactNode, useEffect } from 'react'
import { useMay } from '../frame/sign-in.tsx'
import { Empty, Failure, Page, Waiting } from '../parts/parts.tsx'
import { STEPS, type StartView, type Step } from './address.ts'
import { ChooseStep } from './choose.tsx'
import { ConnectStep } from './connect.tsx'
import { NumbersStep } from './numbers.tsx'
import { ProjectStep } from './project.tsx'
import { RulesStep } from './rules.tsx'
import { useWay, type Way } from './way.ts'

const place = getRouteApi('/start')

const TITLES: Readonly<Record<Step, string>> = {
  connect: 'Connect',
  choose: 'Choose',
  rules: 'Rules',
  project: 'Project',
  numbers: 'First numbers',
}

/** Leads from nothing to the first numbers, one step per screen. */
export function StartPage() {
  const view = place.useSearch()
  const navigate = place.useNavigate()
  const may = useMay('admin')
  const { way, failed } = useWay(view)
  const go = (next: StartView) => void navigate({ search: next })
  const step = way?.step
  // A new screen starts at its top.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the step changes
  useEffect(() => void window.scrollTo(0, 0), [step])
  if (!may)
    return (
      <Page title="Start" says="From nothing to the first numbers.">
        <Empty
          title="Only admins can set things up"
          action={
            <Button variant="default" component={Link} to="/projects">
              Show projects
            </Button>
          }
        >
          Connections hold tokens, so only admins may make them. Ask one of yours to go through this, or to give you the
          role.
        </Empty>
      </Page>
    )
  if (failed?.error) return <Failure error={failed.error} again={() => void failed.refetch()} />
  if (!way) return <Waiting lines={4} />
  return (
    <>
      <Rail way={way} />
      <Shown way={way} view={view} go={go} />
    </>
  )
}

interface ShownProps {
  readonly way: Way
  readonly view: StartView
  go(next: StartView): void
}

function Shown({ way, view, go }: ShownProps) {
  const { step, connection, source, project } = way
  if (step === 'connect' || !connection || !source)
    return (
      <ConnectStep
        way={way}
        plugin={view.plugin}
        onPlugin={(plugin) => go({ step: 'connect', ...(plugin && { plugin }) })}
        onDone={({ plugin, id }) => go({ plugin, connection: id })}
      />
    )
  const own = { plugin: connection.plugin, connection: connection.id }
  if (step === 'choose')
    return <ChooseStep way={way} source={source} connection={connection} onDone={() => go({ ...own, step: 'rules' })} />
  if (step === 'rules')
    return (
      <RulesStep
        way={way}
        source={source}
        connection={connection}
        onDone={() => go({ ...own, step: project === undefined ? 'project' : 'numbers', ...(project && { project }) })}
      />
    )
  if (step === 'project' || project === undefined)
    return (
      <ProjectStep
        way={way}
        onAnother={() => go({ step: 'connect' })}
        onDone={(name) => go({ ...own, step: 'numbers', project: name })}
      />
    )
  return <NumbersStep project={project} view={view} go={go} />
}

function Rail({ way: { step, done, source, connection, project } }: { readonly way: Way }) {
  const own = {
    ...(connection && { plugin: connection.plugin, connection: connection.id }),
    ...(project && { project }),
  }
  const next = STEPS.find((each) => !done.has(each))
  const name = (each: Step) =>
    each === 'choose' && source ? `Choose ${source.scope.title.toLowerCase().replace(/y$/, 'ie')}s` : TITLES[each]
  const item = (each: Step, index: number): ReactNode => {
    const mark = <b aria-hidden>{done.has(each) ? '✓' : index + 1}</b>
    const isOpen = done.has(each) || each === next
    return (
      <li key={each} className={`${done.has(each) ? 'done' : ''} ${each === step ? 'on' : ''}`}>
        {isOpen ? (
          <Link
            to="/start"
            search={each === 'connect' ? { step: each } : { ...own, step: each }}
            aria-current={each === step ? 'step' : undefined}
          >
            {mark}
            <span>{name(each)}</span>
          </Link>
        ) : (
          <span className="ahead">
            {mark}
            <span>{name(each)}</span>
          </span>
        )}
      </li>
    )
  }
  return (
    <nav aria-label="Steps">
      <ol className="start-steps">{STEPS.map(item)}</ol>
    </nav>
  )
}
