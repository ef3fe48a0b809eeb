import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ask } from '../api/ask.ts'
import { refresh } from '../api/queries.ts'
import { askedSources } from '../api/sources.ts'
import { useMay } from './sign-in.tsx'
import { THEMES, useTheme } from './themes.ts'

interface Collected {
  readonly name: string
  readonly blueprint?: { readonly id: number } | null
}
interface PaletteAction {
  readonly id: string
  readonly label: string
  readonly description?: string
  readonly onClick: () => void
}

/** Actions that are available on every page. */
export function useActions(projects: readonly Collected[], isOpen: boolean): readonly PaletteAction[] {
  const navigate = useNavigate()
  const [, setTheme] = useTheme()
  const isAdmin = useMay('admin')
  const isOperator = useMay('operator')
  const sources = useQuery({ ...askedSources, enabled: isAdmin && isOpen })
  async function collect(id: number) {
    try {
      const run = await ask('POST /blueprints/{id}/trigger', { path: { id }, body: {} })
      await refresh('GET /pipelines')
      void navigate({ to: '/runs/$id', params: { id: String(run.id) } })
    } catch (error) {
      notifications.show({ color: 'red', title: 'It did not start', message: (error as Error).message })
    }
  }
  return [
    ...(isOperator
      ? projects.flatMap(({ name, blueprint }) =>
          blueprint
            ? [{ id: `collect ${name}`, label: `Collect ${name}`, onClick: () => void collect(blueprint.id) }]
            : [],
        )
      : []),
    ...(isAdmin
      ? [
          {
            id: 'create project',
            label: 'Create project',
            onClick: () => void navigate({ to: '/projects', search: { new: true } }),
          },
          ...(sources.data ?? []).map(({ plugin, title }) => ({
            id: `connect ${plugin}`,
            label: `Connect ${title}`,
            onClick: () => void navigate({ to: '/sources/$plugin/new', params: { plugin } }),
          })),
          {
            id: 'create webhook',
            label: 'Create webhook',
            onClick: () => void navigate({ to: '/sources/webhooks', search: { create: true } }),
          },
          {
            id: 'create key',
            label: 'Create API key',
            onClick: () => void navigate({ to: '/settings/api-keys', search: { create: true } }),
          },
        ]
      : []),
    ...THEMES.map(({ value, label }) => ({
      id: `theme ${value}`,
      label: `Theme: ${label.toLowerCase()}`,
      onClick: () => setTheme(value),
    })),
  ]
}
