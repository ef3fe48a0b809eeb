import { createSpotlight, Spotlight } from '@mantine/spotlight'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { question } from '../api/queries.ts'
import { PLACES } from './frame.tsx'

export const [store, searchKeys] = createSpotlight()
const MOST = 20

/** Goes to any page, project or run. */
export function Palette() {
  const [words, setWords] = useState('')
  const navigate = useNavigate()
  const projects = useQuery(question('GET /projects', { query: { pageSize: MOST, ...(words && { keyword: words }) } }))
  const runs = useQuery(question('GET /pipelines', { query: { pageSize: MOST } }))
  const fits = (label: string) => label.toLowerCase().includes(words.toLowerCase())
  const groups = [
    {
      group: 'Pages',
      actions: PLACES.filter(({ title }) => fits(title)).map(({ to, title }) => ({
        id: to,
        label: title,
        onClick: () => void navigate({ to }),
      })),
    },
    {
      group: 'Projects',
      actions: (projects.data?.projects ?? []).map(({ name }) => ({
        id: `project ${name}`,
        label: name,
        onClick: () => void navigate({ to: '/projects/$name', params: { name } }),
      })),
    },
    {
      group: 'Runs',
      actions: (runs.data?.pipelines ?? [])
        .filter(({ id, name }) => fits(`${id} ${name}`))
        .map(({ id, name }) => ({
          id: `run ${id}`,
          label: `${id} · ${name}`,
          onClick: () => void navigate({ to: '/runs/$id', params: { id: String(id) } }),
        })),
    },
  ]
  return (
    <Spotlight
      store={store}
      shortcut="mod+K"
      actions={groups.filter(({ actions }) => actions.length > 0)}
      query={words}
      onQueryChange={setWords}
      filter={(_query, actions) => actions}
      nothingFound="Nothing has this name."
      searchProps={{ placeholder: 'Go to a page, project or run', 'aria-label': 'Go to' }}
      scrollable
      maxHeight={420}
    />
  )
}
