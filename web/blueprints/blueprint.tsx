import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { ask } from '../api/ask.ts'
import type { Blueprint, Project } from '../api/description.ts'
import { question } from '../api/queries.ts'
import { useMay } from '../frame/sign-in.tsx'
import { ButtonTo } from '../parts/anywhere.tsx'
import { Asked, Empty, Moment, State } from '../parts/parts.tsx'
import { counted, duration } from '../parts/words.ts'
import { AdvancedBlueprint } from './advanced.tsx'
import { type EditorProps, NormalBlueprint } from './normal.tsx'
import { refreshBlueprints } from './save.ts'

const place = getRouteApi('/projects/$name')

/** The blueprint tab of a project. */
export function ProjectBlueprint({ project }: { readonly project: Project }) {
  const { drawer } = place.useSearch()
  const navigate = place.useNavigate()
  const { blueprint } = project
  if (!blueprint) return <Missing project={project.name} />
  return (
    <Stored
      id={blueprint.id}
      drawer={drawer}
      onDrawer={(next) =>
        void navigate({ search: ({ drawer: _, ...rest }) => ({ ...rest, ...(next && { drawer: next }) }) })
      }
    />
  )
}

export function Stored({ id, drawer, onDrawer }: Omit<EditorProps, 'blueprint'> & { readonly id: number }) {
  const stored = useQuery(question('GET /blueprints/{id}', { path: { id } }))
  return (
    <Asked of={stored}>
      {(data) => {
        const blueprint = data as Blueprint
        const props = { blueprint, drawer, onDrawer }
        return (
          <div className="stack">
            {blueprint.problem && (
              <div className="notice" role="alert">
                {blueprint.problem.message}
              </div>
            )}
            {blueprint.mode === 'ADVANCED' ? <AdvancedBlueprint {...props} /> : <NormalBlueprint {...props} />}
            <Runs id={id} />
          </div>
        )
      }}
    </Asked>
  )
}

/** Shown if the blueprint was deleted through the API, or never existed. */
function Missing({ project }: { readonly project: string }) {
  const isAdmin = useMay('admin')
  const create = useMutation({
    mutationFn: () =>
      ask('POST /blueprints', {
        body: { name: `${project}-Blueprint`, projectName: project, mode: 'NORMAL', cronConfig: '0 0 * * *' },
      }),
    onSuccess: () => refreshBlueprints(),
    onError: ({ message }) => notifications.show({ color: 'red', title: 'It was not created', message }),
  })
  return (
    <Empty
      title="This project has no blueprint"
      action={
        isAdmin && (
          <div className="actions">
            <Button variant="default" loading={create.isPending} onClick={() => create.mutate()}>
              Create a blueprint
            </Button>
            <ButtonTo variant="subtle" at={{ path: '/blueprints/new', search: { project } }}>
              Write the plan yourself
            </ButtonTo>
          </div>
        )
      }
    >
      A blueprint says what is collected, from when on and how often. Without one nothing new comes in; what was
      collected is still there.
    </Empty>
  )
}

const SHOWN = 5

function Runs({ id }: { readonly id: number }) {
  const runs = useQuery(question('GET /blueprints/{id}/pipelines', { path: { id }, query: { pageSize: SHOWN } }))
  if (!runs.data || runs.data.count === 0) return null
  return (
    <section className="card scroll">
      <h2 style={{ marginBottom: 8 }}>Last runs</h2>
      <table className="plain">
        <tbody>
          {runs.data.pipelines.map((run) => (
            <tr key={run.id}>
              <td>
                <Link to="/runs/$id" params={{ id: String(run.id) }}>
                  Run {run.id}
                </Link>
              </td>
              <td>
                <State of={run.status} />
              </td>
              <td className="quiet">{counted(run.totalTasks, 'task')}</td>
              <td className="quiet number">{run.spentSeconds > 0 ? duration(run.spentSeconds / 60) : ''}</td>
              <td className="right">
                <Moment at={run.beganAt ?? run.createdAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
