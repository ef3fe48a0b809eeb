import { createSpotlight, Spotlight } from '@mantine/spotlight'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useDeferredValue, useState, useSyncExternalStore } from 'react'
import { question } from '../api/queries.ts'
import { SETTINGS } from '../settings/rooms.ts'
import { useActions } from './actions.ts'
import { PLACES } from './rooms.ts'
import { useMay } from './sign-in.tsx'

export const [store, searchKeys] = createSpotlight()
const MOST = 10

/** Data is loaded only once the palette is open: most pages are read without it. */
const useIsOpen = () => useSyncExternalStore(store.subscribe, () => store.getState().opened)

/** Opens any page, project, connection, run or setting, and starts actions that are available everywhere. */
export function Palette() {
  const [words, setWords] = useState('')
  const sought = useDeferredValue(words.trim())
  const isOpen = useIsOpen()
  const navigate = useNavigate()
  const isAdmin = useMay('admin')
  const ask = { enabled: isOpen }
  const projects = useQuery({
    ...question('GET /projects', { query: { pageSize: MOST, ...(sought && { keyword: sought }) } }),
    ...ask,
  })
  const runs = useQuery({ ...question('GET /pipelines', { query: { pageSize: 50 } }), ...ask })
  const connections = useQuery({ ...question('GET /v1/connections'), ...ask })
  const actions = useActions(projects.data?.projects ?? [], isOpen)
  // Enter must choose something that matches the typed text, not the text of a moment ago.
  const fits = (label: string) => label.toLowerCase().includes(words.trim().toLowerCase())
  const go = (href: string) => () => void navigate({ to: href as string })
  const groups = [
    {
      group: 'Pages',
      actions: [
        ...PLACES.map(({ to, title }) => ({ id: to, label: title, onClick: go(to) })),
        { id: '/start', label: 'Guided start', onClick: go('/start') },
        { id: '/blueprints', label: 'Blueprints', onClick: go('/blueprints') },
        { id: '/runs/health', label: 'What is missing', onClick: go('/runs/health') },
        { id: '/sources/webhooks', label: 'Webhooks', onClick: go('/sources/webhooks') },
      ],
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
      group: 'Connections',
      actions: (connections.data ?? []).map(({ plugin, title, id, name }) => ({
        id: `connection ${plugin} ${id}`,
        label: name,
        description: title,
        onClick: () => void navigate({ to: '/sources/$plugin/$id', params: { plugin, id: String(id) } }),
      })),
    },
    {
      group: 'Settings',
      actions: SETTINGS.filter((each) => isAdmin || !each.isForAdmins).map(({ to, title, says }) => ({
        id: `setting ${to}`,
        label: title,
        description: says,
        onClick: go(to),
      })),
    },
    { group: 'Actions', actions },
    {
      group: 'Runs',
      actions: (runs.data?.pipelines ?? []).map(({ id, name }) => ({
        id: `run ${id}`,
        label: `${id} · ${name}`,
        onClick: () => void navigate({ to: '/runs/$id', params: { id: String(id) } }),
      })),
    },
  ].map(({ group, actions: all }) => ({
    group,
    actions: all
      .filter((each) => fits(`${each.label} ${'description' in each ? each.description : ''}`))
      .slice(0, MOST),
  }))
  return (
    <Spotlight
      store={store}
      shortcut="mod+K"
      actions={groups.filter(({ actions: some }) => some.length > 0)}
      query={words}
      onQueryChange={setWords}
      filter={(_query, all) => all}
      nothingFound="Nothing has this name."
      searchProps={{ placeholder: 'Go to a page, project, connection or run, or do something', 'aria-label': 'Go to' }}
      scrollable
      maxHeight={420}
    />
  )
}
