export interface PageParts {
  readonly title: string
  readonly html: string
  readonly places: readonly {
    readonly title: string
    readonly pages: readonly { readonly title: string; readonly link: string; readonly isCurrent: boolean }[]
  }[]
  readonly home: string
  /** From this page to the root of the site, so that files work without a server. */
  readonly base: string
}

const escaped = (text: string) => text.replaceAll(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)

export function pageOf({ title, html, places, home, base }: PageParts): string {
  const navigation = places
    .map(({ title: group, pages }) => {
      const links = pages.map(
        ({ title: name, link, isCurrent }) =>
          `<li><a href="${link}"${isCurrent ? ' aria-current="page"' : ''}>${escaped(name)}</a></li>`,
      )
      return `<h2>${escaped(group)}</h2>\n<ul>\n${links.join('\n')}\n</ul>`
    })
    .join('\n')
  return `<!doctype html>
<html lang="en" data-base="${base}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} · Weir</title>
<link rel="stylesheet" href="${base}site.css">
</head>
<body>
<nav aria-label="Pages">
<a class="brand" href="${home}">Weir</a>
<input type="search" placeholder="Search" aria-label="Search">
<ul id="found"></ul>
${navigation}
</nav>
<main>
${html}
</main>
<script src="${base}search-index.js" defer></script>
<script src="${base}search.js" defer></script>
</body>
</html>
`
}
