import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../api/ask.ts'
import { queries, question } from '../api/queries.ts'
import { useMay } from '../frame/sign-in.tsx'
import { AskFirst } from '../parts/ask-first.tsx'
import { Asked, Page } from '../parts/parts.tsx'
import { Collect } from '../projects/collect.tsx'
import { Stored } from './blueprint.tsx'
import { refreshBlueprints } from './save.ts'

const place = getRouteApi('/blueprints/$id')

export function BlueprintPage() {
  const id = Number(place.useParams().id)
  const { drawer } = place.useSearch()
  const navigate = place.useNavigate()
  const isAdmin = useMay('admin')
  const stored = useQuery(question('GET /blueprints/{id}', { path: { id } }))
  const blueprint = stored.data
  return (
    <Page
      title={blueprint?.name ?? `Blueprint ${id}`}
      says={
        blueprint?.projectName ? (
          <>
            Of the project{' '}
            <Link to="/projects/$name" params={{ name: blueprint.projectName }}>
              <bdi>{blueprint.projectName}</bdi>
            </Link>
            .
          </>
        ) : (
          'Of no project: it runs what its plan says.'
        )
      }
      actions={
        blueprint && (
          <>
            {isAdmin && <Delete id={id} name={blueprint.name} />}
            <Collect blueprintId={id} isEnabled={blueprint.enable} isMain={false} />
          </>
        )
      }
    >
      <Asked of={stored}>
        {() => (
          <Stored
            id={id}
            drawer={drawer}
            onDrawer={(next) => void navigate({ search: next ? { drawer: next } : {} })}
          />
        )}
      </Asked>
    </Page>
  )
}

function Delete({ id, name }: { readonly id: number; readonly name: string }) {
  const [isAsking, setAsking] = useState(false)
  const navigate = useNavigate()
  async function remove() {
    await ask('DELETE /blueprints/{id}', { path: { id } })
    await navigate({ to: '/blueprints' })
    queries.removeQueries({ queryKey: ['GET /blueprints/{id}', { path: { id } }] })
    await refreshBlueprints()
    notifications.show({ title: 'Deleted', message: `The blueprint ${name} is gone.` })
  }
  return (
    <>
      <Button variant="subtle" color="red" onClick={() => setAsking(true)}>
        Delete
      </Button>
      {isAsking && (
        <AskFirst title={`Delete ${name}?`} action="Delete blueprint" act={remove} onClose={() => setAsking(false)}>
          <p style={{ marginBottom: 8 }}>
            <b>Goes:</b> the blueprint with its schedule and its plan.
          </p>
          <p>
            <b>Stays:</b> its project, if it has one, and everything that its runs collected.
          </p>
        </AskFirst>
      )}
    </>
  )
}
