import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Asked, Empty, Page } from '../../parts/parts.tsx'
import { connectionQuestion, useSource } from '../asked.ts'
import { configQuestion, useNames } from './asked.ts'
import { Editor } from './editor.tsx'

const place = getRouteApi('/sources/$plugin/$id/rules/$config')

/** One scope config: what is collected, and what counts as what. */
export function RulesPage() {
  const { plugin, id, config } = place.useParams()
  const connectionId = Number(id)
  const isNew = config === 'new'
  const { sources, source } = useSource(plugin)
  const connection = useQuery(connectionQuestion(plugin, connectionId))
  const stored = useQuery({ ...configQuestion(plugin, connectionId, Number(config)), enabled: !isNew })
  const names = useNames(plugin, connectionId, isNew ? undefined : Number(config))
  if (sources.data && !source) return <NoSource plugin={plugin} />
  const isReady = source && connection.data && (isNew ? !names.isPending : stored.data)
  if (!isReady)
    return (
      <Page title={isNew ? 'New rules' : 'Rules'} says="What counts as a deployment, a bug, an incident.">
        <Asked of={sources}>
          {() => (
            <Asked of={connection}>
              {() => <Asked of={(isNew ? names : stored) as typeof connection}>{() => null}</Asked>}
            </Asked>
          )}
        </Asked>
      </Page>
    )
  return (
    <Editor
      key={`${plugin} ${id} ${config}`}
      source={source}
      connection={connection.data}
      stored={isNew ? undefined : stored.data}
      names={names.data}
    />
  )
}

export function NoSource({ plugin }: { readonly plugin: string }) {
  return (
    <Empty
      title={`There is no source called “${plugin}”`}
      action={
        <Button variant="default" component={Link} to="/sources">
          Show sources
        </Button>
      }
    >
      The address may be of another Weir, or mistyped.
    </Empty>
  )
}
