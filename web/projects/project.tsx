import { Button, Menu, SegmentedControl } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { ask } from '../api/ask.ts'
import type { Project } from '../api/description.ts'
import { question, refresh } from '../api/queries.ts'
import { Explanation } from '../explain/explanation.tsx'
import { Asked, Moment, Page, State } from '../parts/parts.tsx'
import { KeyCard } from './key-card.tsx'
import { KEYS } from './keys.ts'

const place = getRouteApi('/projects/$name')
const RANGES = [1, 3, 6, 12].map((months) => ({
  value: String(months),
  label: months === 12 ? '1 year' : `${months} mo`,
}))

export function ProjectPage() {
  const { name } = place.useParams()
  const { months = 6, explain, reason } = place.useSearch()
  const navigate = place.useNavigate()
  const project = useQuery(question('GET /projects/{projectName}', { path: { projectName: name } }))
  return (
    <Page
      title={name}
      says={project.data?.description || 'How fast and how safely it reaches production.'}
      actions={
        <>
          <SegmentedControl
            aria-label="Range"
            data={RANGES}
            value={String(months)}
            onChange={(value) => void navigate({ search: { months: Number(value) } })}
          />
          {project.data && <Collect project={project.data as Project} />}
        </>
      }
    >
      <Asked of={project}>
        {(data) => (
          <>
            <section className="keys">
              {KEYS.map((key) => (
                <KeyCard
                  key={key.name}
                  metric={key.name}
                  title={key.title}
                  of={key.of}
                  project={name}
                  months={months}
                />
              ))}
            </section>
            <LastRun project={data as Project} />
          </>
        )}
      </Asked>
      <Explanation
        project={name}
        metric={explain}
        reason={reason}
        months={months}
        onClose={() => void navigate({ search: { months } })}
        onReason={(next) =>
          void navigate({ search: { months, ...(explain && { explain }), ...(next && { reason: next }) } })
        }
      />
    </Page>
  )
}

function LastRun({ project: { lastPipeline } }: { readonly project: Project }) {
  if (!lastPipeline)
    return (
      <p className="quiet">
        Nothing was collected yet: <b>Collect now</b> begins.
      </p>
    )
  return (
    <p className="small quiet">
      Last run <State of={lastPipeline.status} /> <Moment at={lastPipeline.finishedAt ?? lastPipeline.createdAt} />.{' '}
      <Link to="/runs/$id" params={{ id: String(lastPipeline.id) }}>
        Show run
      </Link>
    </p>
  )
}

const WAYS = {
  'Collect what is new': {},
  'Collect everything again': { fullSync: true },
  'Only transform what is stored': { skipCollectors: true },
} as const

function Collect({ project: { blueprint } }: { readonly project: Project }) {
  const navigate = place.useNavigate()
  const start = useMutation({
    mutationFn: (body: object) => ask('POST /blueprints/{id}/trigger', { path: { id: blueprint?.id ?? 0 }, body }),
    onSuccess: async ({ id }) => {
      await refresh('GET /pipelines', 'GET /projects/{projectName}')
      void navigate({ to: '/runs/$id', params: { id: String(id) } })
    },
    onError: ({ message }) => notifications.show({ color: 'red', title: 'It did not start', message }),
  })
  if (!blueprint) return null
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button loading={start.isPending}>Collect now</Button>
      </Menu.Target>
      <Menu.Dropdown>
        {Object.entries(WAYS).map(([title, flags]) => (
          <Menu.Item key={title} onClick={() => start.mutate(flags)}>
            {title}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
