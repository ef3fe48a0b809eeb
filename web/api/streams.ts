/** Streamed answers: the progress of a run as events, and the log of a task as lines. */
import type { Pipeline, Task } from './description.ts'

interface Snapshot {
  readonly pipeline: Pipeline
  readonly tasks: readonly Task[]
}
interface Listener {
  onSnapshot(snapshot: Snapshot): void
  /** Tells whether events arrive. While they do not, the caller has to ask for the run itself. */
  onLive(isLive: boolean): void
}

const AGAIN_MS = 5_000

/** Calls back at every change of a run until it is finished, and continues after the server was away. Returns a function that ends it. */
export function followRun(id: number, { onSnapshot, onLive }: Listener): () => void {
  let source: EventSource | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  function begin() {
    source = new EventSource(`/api/v1/pipelines/${id}/events`)
    source.onopen = () => onLive(true)
    source.onmessage = ({ data }) => onSnapshot(JSON.parse(data))
    source.addEventListener('end', () => source?.close())
    source.onerror = () => {
      onLive(false)
      // The browser reconnects by itself, unless the server refused the request.
      if (source?.readyState === EventSource.CLOSED) timer = setTimeout(begin, AGAIN_MS)
    }
  }
  begin()
  return () => {
    clearTimeout(timer)
    source?.close()
  }
}

/** Yields the lines of a log in pieces as they arrive. Ends with the task, or when the server is gone. */
export async function* followLog(taskId: number, signal: AbortSignal): AsyncGenerator<readonly string[]> {
  const response = await fetch(`/api/v1/tasks/${taskId}/log`, { signal })
  if (!response.ok || !response.body)
    throw new Error(`The log could not be read: the server answered ${response.status}.`)
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    const lines = (rest + value).split('\n')
    rest = lines.pop() ?? ''
    if (lines.length > 0) yield lines
  }
  if (rest !== '') yield [rest]
}
