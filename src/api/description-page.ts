/** An OpenAPI document as a page that needs no script. */
import { escapeHtml, page } from './page.ts'

const block = (title: string, value: unknown) =>
  value === undefined
    ? ''
    : `<details><summary>${title}</summary><pre>${escapeHtml(JSON.stringify(value, undefined, 1))}</pre></details>`

function operation(
  method: string,
  path: string,
  { summary = '', parameters, requestBody, responses = {} }: any,
): string {
  const body = Object.values<any>(requestBody?.content ?? {})[0]?.schema
  const answers = Object.entries<any>(responses).map(([status, { description, content = {} }]) =>
    block(`${status} ${escapeHtml(description)}`, Object.values<any>(content)[0]?.schema),
  )
  return `<section><h3><code>${method.toUpperCase()} ${escapeHtml(path)}</code></h3><p>${escapeHtml(summary)}</p>
${block('Parameters', parameters)}${block('Body', body)}${answers.join('')}</section>`
}

export function renderDescription({ info, paths = {}, components }: any): string {
  const byTag = new Map<string, string[]>()
  for (const [path, methods] of Object.entries<any>(paths)) {
    for (const [method, each] of Object.entries<any>(methods)) {
      const tag = each.tags?.[0] ?? ''
      byTag.set(tag, [...(byTag.get(tag) ?? []), operation(method, path, each)])
    }
  }
  const names = [...byTag.keys()]
  const contents = names.map((tag) => `<a href="#${encodeURIComponent(tag)}">${escapeHtml(tag)}</a>`).join(' · ')
  const groups = names.map(
    (tag) => `<h2 id="${encodeURIComponent(tag)}">${escapeHtml(tag)}</h2>${byTag.get(tag)?.join('')}`,
  )
  return page(
    `${info.title} ${info.version}`,
    `<p>${escapeHtml(info.description)} <a href="/swagger/doc.json">doc.json</a></p><p>${contents}</p>${groups.join('')}
<h2>Records</h2>${Object.entries(components?.schemas ?? {})
      .map(([name, schema]) => block(escapeHtml(name), schema))
      .join('')}`,
  )
}
