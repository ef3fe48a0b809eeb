// Every word must be in a section; those with a word in their title come first.
const MOST = 12
const base = document.documentElement.dataset.base
const input = document.querySelector('input[type=search]')
const list = document.getElementById('found')
const sections = window.searchIndex.map((section) => ({
  ...section,
  heading: section.title.toLowerCase(),
  all: `${section.page} ${section.title} ${section.text}`.toLowerCase(),
}))

input.addEventListener('input', () => {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean)
  const found = words.length === 0 ? [] : sections.filter(({ all }) => words.every((word) => all.includes(word)))
  const isNamed = ({ heading }) => (words.some((word) => heading.includes(word)) ? 0 : 1)
  const first = found.sort((one, other) => isNamed(one) - isNamed(other)).slice(0, MOST)
  list.replaceChildren(
    ...first.map(({ address, anchor, title, page }) => {
      const item = document.createElement('li')
      const link = document.createElement('a')
      const where = document.createElement('small')
      link.href = `${base}${address}#${anchor}`
      link.textContent = title
      where.textContent = page
      link.append(where)
      item.append(link)
      return item
    }),
  )
})
