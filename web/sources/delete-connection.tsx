import { Button, Modal } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { ask, Refused } from '../api/ask.ts'
import { question, refresh } from '../api/queries.ts'
import type { Source } from '../api/sources.ts'
import { counted, plural } from '../parts/words.ts'
import type { Connection } from './asked.ts'

interface DeleteConnectionProps {
  readonly source: Source
  readonly connection: Connection
  onClose(): void
}

/** The projects that still use the connection, if the server refuses the deletion because of them. */
const projectsIn = (error: Error | null): readonly string[] => {
  const data = error instanceof Refused ? (error.data as { projects?: readonly string[] } | null) : null
  return data?.projects ?? []
}

export function DeleteConnection({ source, connection: { id, name }, onClose }: DeleteConnectionProps) {
  const { plugin, title, scope } = source
  const navigate = useNavigate()
  const configs = useQuery(
    question('GET /plugins/{plugin}/connections/{connectionId}/scope-configs', {
      path: { plugin, connectionId: id },
    }),
  )
  const deletion = useMutation({
    mutationFn: () =>
      ask('DELETE /plugins/{plugin}/connections/{connectionId}', { path: { plugin, connectionId: id } }),
    onSuccess: async () => {
      await navigate({ to: '/sources' })
      await refresh('GET /v1/connections')
      notifications.show({ message: `The connection ${name} is deleted.` })
    },
  })
  const projects = projectsIn(deletion.error)
  const rules = configs.data?.length ?? 0
  return (
    <Modal opened onClose={onClose} title={`Delete ${name}`} centered>
      <div style={{ display: 'grid', gap: 16, overflowWrap: 'anywhere' }}>
        <p>
          What goes: its address and its secrets{rules > 0 && `, and ${counted(rules, 'set')} of rules`}. What stays:
          everything at {title}.
        </p>
        <p className="small quiet">
          It can only be deleted when no project collects by it and none of its {plural(scope.title.toLowerCase())} is
          left.
        </p>
        {deletion.error && (
          <div role="alert" className="bad">
            <p>{deletion.error.message}</p>
            {projects.map((project) => (
              <Link key={project} to="/projects/$name" params={{ name: project }} style={{ marginRight: 12 }}>
                {project}
              </Link>
            ))}
          </div>
        )}
        <div className="actions" style={{ justifyContent: 'flex-end' }}>
          <Button variant="default" onClick={onClose}>
            Keep it
          </Button>
          <Button color="red" loading={deletion.isPending} onClick={() => deletion.mutate()}>
            Delete connection
          </Button>
        </div>
      </div>
    </Modal>
  )
}
