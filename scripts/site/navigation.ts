export interface Group {
  readonly title: string
  /** Paths from docs/. */
  readonly pages: readonly { readonly title: string; readonly path: string }[]
}

/** The index is the navigation: its headings are the groups, and the first link of each line is a page. */
export function navigationOf(index: string): Group[] {
  return index
    .split(/^## /m)
    .slice(1)
    .map((part) => ({
      title: part.slice(0, part.indexOf('\n')),
      pages: [...part.matchAll(/^(?:-|\d+\.) \[([^\]]+)\]\(([^)#]+\.md)\)/gm)].map(([, title = '', path = '']) => ({
        title,
        path,
      })),
    }))
}
