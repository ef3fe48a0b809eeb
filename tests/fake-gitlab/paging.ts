/** Pages as GitLab serves them: https://docs.gitlab.com/api/rest/#pagination */
const MOST_COUNTED = 10_000
const MOST_A_PAGE = 100

export interface Page {
  readonly records: readonly any[]
  readonly headers: Readonly<Record<string, string>>
}

const addressOf = (url: URL, parameters: Readonly<Record<string, string | number>>) => {
  const target = new URL(url)
  for (const [name, value] of Object.entries(parameters)) target.searchParams.set(name, String(value))
  return target.href
}
const sizeIn = (url: URL) => Math.min(MOST_A_PAGE, Math.max(1, Number(url.searchParams.get('per_page') ?? 20)))

export function offsetPage(all: readonly any[], url: URL): Page {
  const size = sizeIn(url)
  const page = Math.max(1, Number(url.searchParams.get('page') ?? 1))
  const records = all.slice((page - 1) * size, page * size)
  const hasNext = page * size < all.length
  const pages = Math.max(1, Math.ceil(all.length / size))
  const isCounted = all.length <= MOST_COUNTED
  const to = (number: number) => addressOf(url, { page: number, per_page: size })
  const links = [
    ...(page > 1 ? [`<${to(page - 1)}>; rel="prev"`] : []),
    ...(hasNext ? [`<${to(page + 1)}>; rel="next"`] : []),
    `<${to(1)}>; rel="first"`,
    ...(isCounted ? [`<${to(pages)}>; rel="last"`] : []),
  ]
  return {
    records,
    headers: {
      link: links.join(', '),
      'x-page': String(page),
      'x-per-page': String(size),
      'x-next-page': hasNext ? String(page + 1) : '',
      ...(isCounted && { 'x-total': String(all.length), 'x-total-pages': String(pages) }),
    },
  }
}

/** Returns the page after a record, by descending ids. */
export function keysetPage(all: readonly { id: number }[], url: URL): Page {
  const size = sizeIn(url)
  const cursor = url.searchParams.get('cursor')
  const after = cursor ? Number(Buffer.from(cursor, 'base64url').toString()) : Number.POSITIVE_INFINITY
  const rest = [...all].sort((one, other) => other.id - one.id).filter(({ id }) => id < after)
  const records = rest.slice(0, size)
  const last = records.at(-1)
  const next = last && rest.length > size ? Buffer.from(String(last.id)).toString('base64url') : undefined
  return { records, headers: next ? { link: `<${addressOf(url, { cursor: next })}>; rel="next"` } : {} }
}
