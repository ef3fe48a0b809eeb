import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { Page } from '../parts/parts.tsx'
import { useSource } from './asked.ts'
import { ConnectionForm } from './connection-form.tsx'

const place = getRouteApi('/sources/$plugin/new')

export function NewConnection() {
  const { plugin } = place.useParams()
  const { source } = useSource(plugin)
  const navigate = useNavigate()
  return (
    <Page title={`Connect ${source?.title ?? plugin}`} says={source?.about || 'Where it is, and how to sign in.'}>
      <ConnectionForm
        plugin={plugin}
        onSaved={({ id }) =>
          void navigate({ to: '/sources/$plugin/$id', params: { plugin, id: String(id) }, search: { add: true } })
        }
      />
    </Page>
  )
}
