import { createServer } from 'node:http'
import { listening } from '../support/listening.ts'

export interface Received {
  readonly path: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly text: string
  readonly body: any
}

/** Receives messages over HTTP and keeps them. `answer` is the status of the next answers. With null there is no answer. */
export async function startReceiver() {
  const received: Received[] = []
  const waiting: (() => void)[] = []
  let answer: number | null = 200
  let head: Readonly<Record<string, string>> = {}
  const { url, stop } = await listening(
    createServer((request, response) => {
      let text = ''
      request.setEncoding('utf8').on('data', (piece) => {
        text += piece
      })
      request.on('end', () => {
        const { url: path = '', headers } = request
        received.push({ path, headers: headers as Received['headers'], text, body: JSON.parse(text) })
        for (const wake of waiting.splice(0)) wake()
        if (answer !== null) response.writeHead(answer, head).end(answer < 300 ? 'ok' : 'no')
      })
    }),
  )
  return {
    url,
    stop,
    received,
    answerWith: (status: number | null, headers: Readonly<Record<string, string>> = {}) => {
      answer = status
      head = headers
    },
    /** Resolves when the next message arrives. */
    next: () => new Promise<void>((done) => waiting.push(done)),
  }
}
