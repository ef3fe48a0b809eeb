import { notifications } from '@mantine/notifications'
import { useEffect, useRef } from 'react'
import { ask } from '../api/ask.ts'
import type { Project } from '../api/description.ts'
import { queries, refresh } from '../api/queries.ts'
import { useSave } from '../parts/conflict.tsx'

const LABELS = { name: 'Name', description: 'Description', metrics: 'Metrics and policy' }

/** Reloads everything that may show something of a project. */
const refreshProjects = () =>
  refresh(
    'GET /projects',
    'GET /projects/{projectName}',
    'GET /v1/four-keys',
    'GET /v1/metrics/{metric}/policies',
    'GET /v1/metrics/{metric}/explanation',
    'GET /v1/metrics/{metric}/items',
    'GET /v1/metrics/{metric}/series',
    'GET /v1/rollouts',
  )

/** Leaves the page first: afterwards nothing may ask for the old name again. */
export async function leaving(before: string, after: string | undefined, go: () => unknown): Promise<void> {
  await go()
  if (before !== after)
    queries.removeQueries({ queryKey: ['GET /projects/{projectName}', { path: { projectName: before } }] })
  await refreshProjects()
}

/** Changes a project; `failed` is the title of the message if the server refuses. */
export function useSaveProject(
  project: Project,
  failed: string,
  onSaved: (saved: Project) => unknown = () => {},
  onTheirs: (current: Project) => void = () => {},
) {
  // Undo may be clicked long after the page was drawn, so it starts from what is saved by then.
  const latest = useRef(project)
  useEffect(() => {
    latest.current = project
  }, [project])
  const {
    save,
    failure: _,
    ...rest
  } = useSave<Project>({
    labels: LABELS,
    send: (changes, header) =>
      ask('PATCH /projects/{projectName}', {
        path: { projectName: latest.current.name },
        header,
        // Without this field in the request, the server would clear the description.
        body: { description: latest.current.description, ...changes },
      }).catch((error: Error) => {
        if ((error as { status?: number }).status !== 412)
          notifications.show({ color: 'red', title: failed, message: error.message })
        throw error
      }) as Promise<Project>,
    onSaved: (saved) => {
      const { name: before } = latest.current
      latest.current = saved
      void leaving(before, saved.name, () => onSaved(saved))
    },
    onTheirs: (current) => {
      void refreshProjects()
      onTheirs(current)
    },
  })
  return { ...rest, save: (changes: Readonly<Record<string, unknown>>) => save(latest.current, changes) }
}
