import { Button, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useDeferredValue, useState } from 'react'
import type { Project } from '../api/description.ts'
import { question } from '../api/queries.ts'
import { Asked, Band, Empty, Moment, Page, State } from '../parts/parts.tsx'
import { quantity } from '../parts/words.ts'
import { KEYS, periods } from './keys.ts'

const SHOWN = 50

export function ProjectList() {
  const [words, setWords] = useState('')
  const keyword = useDeferredValue(words)
  const projects = useQuery(question('GET /projects', { query: { pageSize: SHOWN, ...(keyword && { keyword }) } }))
  return (
    <Page
      title="Projects"
      says="How fast and how safely each of them reaches production."
      actions={
        <TextInput
          placeholder="Find a project"
          aria-label="Find a project"
          value={words}
          onChange={({ currentTarget }) => setWords(currentTarget.value)}
        />
      }
    >
      <Asked of={projects}>
        {({ count, projects: shown }) =>
          count === 0 ? (
            keyword ? (
              <Empty title={`No project is called “${keyword}”`}>
                Names are compared from their beginning to their end, in any place.
              </Empty>
            ) : (
              <Empty
                title="No project yet"
                action={
                  <Button component={Link} to="/sources">
                    Connect a source
                  </Button>
                }
              >
                A project is what a team ships: its repositories, boards and deployments. Connect where they live,
                choose them, and the four keys appear here.
              </Empty>
            )
          ) : (
            <div className="card scroll">
              <table className="plain">
                <thead>
                  <tr>
                    <th>Project</th>
                    {KEYS.map(({ name, title }) => (
                      <th key={name}>{title}</th>
                    ))}
                    <th>Last run</th>
                  </tr>
                </thead>
                <tbody>
                  {shown.map((project) => (
                    <Row key={project.name} project={project} />
                  ))}
                </tbody>
              </table>
              {count > shown.length && (
                <p className="small quiet" style={{ paddingTop: 12 }}>
                  {shown.length} of {count}: search for the others.
                </p>
              )}
            </div>
          )
        }
      </Asked>
    </Page>
  )
}

function Row({ project: { name, description, lastPipeline } }: { readonly project: Project }) {
  return (
    <tr>
      <td style={{ maxWidth: 320 }}>
        <Link
          to="/projects/$name"
          params={{ name }}
          className="cut"
          style={{ display: 'block', fontWeight: 500 }}
          title={name}
        >
          {name}
        </Link>
        {description && <span className="small quiet">{description}</span>}
      </td>
      {KEYS.map((key) => (
        <KeyCell key={key.name} metric={key.name} project={name} />
      ))}
      <td>
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

const UNITS = ['minutes', 'days per week', 'share', 'minutes']

function KeyCell({ metric, project }: { readonly metric: string; readonly project: string }) {
  const { current } = periods(6)
  const { data } = useQuery(question('GET /v1/metrics/{metric}', { path: { metric }, query: { project, ...current } }))
  const value = data?.values[0]
  if (!value || value.value === null) return <td className="faint">{data ? 'no data' : ''}</td>
  const unit = UNITS[KEYS.findIndex(({ name }) => name === metric)] ?? ''
  const grade = value.grades.find(({ report }) => report === '2023')
  return (
    <td>
      <div className="number">
        {quantity(value.value, unit)
          .map(({ amount, unit }) => `${amount} ${unit}`)
          .join(' ')}
      </div>
      {grade && <Band band={grade.band} />}
    </td>
  )
}
