/** The present state of a run. The server reports every change; while it does not, the page asks for the state. */
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { Pipeline, Task } from '../api/description.ts'
import { queries, question, refresh } from '../api/queries.ts'
import { followRun } from '../api/streams.ts'
import { isUnfinished } from '../parts/parts.tsx'

const ASK_MS = 2_000

const runQuestion = (id: number) => question('GET /pipelines/{id}', { path: { id } })
const tasksQuestion = (id: number) => question('GET /pipelines/{id}/tasks', { path: { id } })

export function useRun(id: number) {
  const [isLive, setLive] = useState(false)
  const run = useQuery({
    ...runQuestion(id),
    refetchInterval: ({ state }) => (!isLive && (!state.data || isUnfinished(state.data.status)) ? ASK_MS : false),
  })
  const isGoing = run.data !== undefined && isUnfinished(run.data.status)
  const tasks = useQuery({ ...tasksQuestion(id), refetchInterval: isGoing && !isLive ? ASK_MS : false })
  useEffect(() => {
    if (!isGoing) return
    return followRun(id, {
      onLive: setLive,
      onSnapshot: ({ pipeline, tasks: all }) => {
        queries.setQueryData<Pipeline>(runQuestion(id).queryKey, pipeline)
        queries.setQueryData<{ count: number; tasks: readonly Task[] }>(tasksQuestion(id).queryKey, {
          count: all.length,
          tasks: all,
        })
      },
    })
  }, [id, isGoing])
  // Data that a run leaves behind is complete only when the run has ended.
  useEffect(() => {
    if (isGoing) return
    setLive(false)
    void refresh('GET /pipelines', 'GET /v1/tasks/{id}/steps', 'GET /v1/receipts', 'GET /v1/quarantine')
    void queries.invalidateQueries({ queryKey: tasksQuestion(id).queryKey })
  }, [id, isGoing])
  return { run, tasks, isGoing }
}
