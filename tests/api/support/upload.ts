import type { Answer, TestApi } from './test-api.ts'

/** Sends a form as browsers and curl do. A file is text or bytes. Without a file the form has none. */
export async function upload(
  api: TestApi,
  method: 'POST' | 'PUT',
  url: string,
  file: string | Buffer | undefined,
  fields: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const form = new FormData()
  // The file comes first, because fields may follow it.
  if (file !== undefined) form.append('file', new Blob([file as string], { type: 'text/csv' }), 'upload.csv')
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  const encoded = new Response(form)
  return api.ask(method, url, Buffer.from(await encoded.arrayBuffer()), {
    headers: { 'content-type': encoded.headers.get('content-type') ?? '' },
  })
}

/** Joins lines of CSV. Cells that need quotes are passed with quotes. */
export const lines = (...each: readonly string[]): string => `${each.join('\n')}\n`
