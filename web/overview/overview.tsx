import './overview.css'
import { Button } from '@mantine/core'
import { usePrefetchQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { AnswerTo } from '../api/ask.ts'
import { question } from '../api/queries.ts'
import { useMay } from '../frame/sign-in.tsx'
import { ButtonTo, LinkTo } from '../parts/anywhere.tsx'
import { CollectedBy } from '../parts/collected-by.tsx'
import { Asked, Band, isUnfinished, Moment, Page, State } from '../parts/parts.tsx'
import { saidText } from '../projects/keys.ts'
import { Attention } from './attention.tsx'

type Overview = AnswerTo<'GET /v1/overview'>
const WHILE_RUNNING_MS = 5_000
const isRunning = ({ lastRun }: Overview['projects'][number]) => lastRun !== null && isUnfinished(lastRun.status)

export function OverviewPage() {
  const overview = useQuery({
    ...question('GET /v1/overview'),
    staleTime: 30_000,
    // While runs continue, they change what is shown.
    refetchInterval: ({ state }) => (state.data?.projects.some(isRunning) ? WHILE_RUNNING_MS : false),
  })
  // Loaded at the same time as the overview, not after it.
  usePrefetchQuery(question('GET /v1/attention'))
  return (
    <Page
      title="Overview"
      says="How all projects are doing, and what needs attention."
      actions={overview.data && overview.data.count > 0 && <ButtonTo at={{ path: '/answer' }}>Answer for all</ButtonTo>}
    >
      {/* Tells why collection has stopped, even while the projects cannot be read. */}
      {(overview.isError || (overview.data && overview.data.count > 0)) && <Attention />}
      <Asked of={overview}>{(data) => (data.count === 0 ? <FirstVisit /> : <Projects overview={data} />)}</Asked>
    </Page>
  )
}

const STEPS = [
  ['Connect a tool', 'GitHub, Jira, CircleCI and others, with an address and a token that are tested at once.'],
  ['Choose what counts', 'Repositories and boards, and the rules that tell a deployment from a build.'],
  ['See the four keys', 'Lead time, frequency, failures and recovery, each down to the items behind it.'],
] as const

function FirstVisit() {
  const isAdmin = useMay('admin')
  return (
    <section className="first card">
      <h2>Nothing is measured yet</h2>
      <ol>
        {STEPS.map(([title, says], index) => (
          <li key={title}>
            <span className="number faint" aria-hidden="true">
              {index + 1}
            </span>
            <div>
              <h3>{title}</h3>
              <p className="quiet">{says}</p>
            </div>
          </li>
        ))}
      </ol>
      {isAdmin ? (
        <Button component={Link} to="/start">
          Start
        </Button>
      ) : (
        <p className="quiet">An admin can set it up; then your projects appear here.</p>
      )}
    </section>
  )
}

function Projects({ overview: { count, projects } }: { readonly overview: Overview }) {
  return (
    <section aria-labelledby="projects">
      <div className="row" style={{ marginBottom: 12 }}>
        <h2 id="projects">How projects are doing</h2>
        <Link to="/projects" className="small">
          {count > projects.length ? `All ${count} projects` : 'Compare them'}
        </Link>
      </div>
      <div className="tiles">
        {projects.map((project) => (
          <Tile key={project.name} project={project} />
        ))}
      </div>
    </section>
  )
}

function Tile({ project }: { readonly project: Overview['projects'][number] }) {
  const { name, lastRun, collectedBy, keys, partial, why } = project
  const noRun = collectedBy ? 'no run of its own' : 'never ran'
  return (
    <article className="card tile">
      <header className="row">
        <h3 className="cut" title={name}>
          <Link to="/projects/$name" params={{ name }}>
            <bdi>{name}</bdi>
          </Link>
        </h3>
        <span className="small quiet" style={{ whiteSpace: 'nowrap' }}>
          {lastRun ? (
            <Link to="/runs/$id" params={{ id: String(lastRun.id) }} className="quiet">
              <State of={lastRun.status} /> <Moment at={lastRun.finishedAt} />
            </Link>
          ) : (
            noRun
          )}
        </span>
      </header>
      {why ? (
        <div>
          <p className="quiet clamp" title={why}>
            {lastRun && isUnfinished(lastRun.status)
              ? 'No numbers yet: they come when the present run ends.'
              : `No numbers: ${why}`}
          </p>
          <Link to="/projects/$name" params={{ name }} className="small">
            Look into it
          </Link>
        </div>
      ) : (
        <dl>
          {keys.map(({ metric, title, unit, value, inWords, band, noGrade }) => (
            <div key={metric}>
              <dt className="small quiet">{title}</dt>
              <dd>
                <Link
                  to="/projects/$name"
                  params={{ name }}
                  search={{ explain: metric }}
                  className="figure number"
                  title={`Explain ${title.toLowerCase()}`}
                >
                  {value === null ? 'no data' : saidText(value, unit, inWords)}
                </Link>
                {band ? <Band band={band} /> : noGrade && <span className="small quiet">no grade: {noGrade}</span>}
              </dd>
            </div>
          ))}
        </dl>
      )}
      {collectedBy && (
        <p className="small quiet">
          <CollectedBy of={collectedBy} />
        </p>
      )}
      {partial.length > 0 && (
        <p className="small quiet clamp" role="note" aria-label={`Partial data of ${name}`} title={partial.join(' ')}>
          These numbers rest on part of the data. {partial.join(' ')}
        </p>
      )}
      {!why && (
        <LinkTo at={{ path: '/dashboards/dora', search: { 'var-project': name } }} className="small">
          Over time
        </LinkTo>
      )}
    </article>
  )
}
