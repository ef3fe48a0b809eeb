import { Button, FileButton } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../api/ask.ts'
import type { Group } from '../api/description.ts'
import { question, refresh } from '../api/queries.ts'
import { useMay } from '../frame/sign-in.tsx'
import { AskFirst } from '../parts/ask-first.tsx'
import { Asked, Empty } from '../parts/parts.tsx'
import { counted } from '../parts/words.ts'
import { GroupForm } from './group-form.tsx'
import { SettingsPage } from './settings-page.tsx'

const place = getRouteApi('/settings/groups')
const renew = () => refresh('GET /v1/groups', 'GET /v1/targets')

export function GroupsPage() {
  const { create = false, group: asked } = place.useSearch()
  const navigate = place.useNavigate()
  const isAdmin = useMay('admin')
  const groups = useQuery(question('GET /v1/groups'))
  const [deleted, setDeleted] = useState<Group>()
  const close = () => void navigate({ search: {}, replace: true })
  const all = groups.data?.groups ?? []
  const changed = all.find(({ name }) => name === asked)
  return (
    <SettingsPage
      title="Groups"
      says="Projects that belong together. A group's numbers are those of all its projects, each item counted once."
      {...(isAdmin && { actions: <Actions onCreate={() => void navigate({ search: { create: true } })} /> })}
    >
      <Asked of={groups}>
        {({ groups: known }) =>
          known.length === 0 ? (
            <Empty title="No groups yet">
              A group may hold projects and other groups, such as those of a department.
            </Empty>
          ) : (
            <GroupTable
              groups={known}
              isAdmin={isAdmin}
              onEdit={({ name }) => void navigate({ search: { group: name } })}
              onDelete={setDeleted}
            />
          )
        }
      </Asked>
      {isAdmin && (create || changed) && (
        <GroupForm
          key={changed?.name ?? ''}
          {...(changed && { group: changed })}
          groups={all}
          onClose={close}
          onSaved={() => {
            close()
            void renew()
          }}
        />
      )}
      {deleted && (
        <AskFirst
          title={`Delete ${deleted.name}?`}
          action="Delete group"
          onClose={() => setDeleted(undefined)}
          act={async () => {
            await ask('DELETE /v1/groups/{group}', { path: { group: deleted.name } })
            await renew()
          }}
        >
          Its projects stay, and its targets go. The groups in it move to the group around it.
        </AskFirst>
      )}
    </SettingsPage>
  )
}

function Actions({ onCreate }: { readonly onCreate: () => void }) {
  const take = useMutation({
    mutationFn: async (file: File) => ask('PUT /v1/groups', { body: { csv: await file.text() } }),
    onSuccess: async ({ created, changed }) => {
      await renew()
      notifications.show({
        title: 'Groups imported',
        message: `${counted(created.length, 'group')} created, ${counted(changed.length, 'group')} changed.`,
      })
    },
    onError: ({ message }) => notifications.show({ color: 'red', title: 'Nothing was imported', message }),
  })
  return (
    <>
      <Button variant="default" component="a" href="/api/v1/groups?format=csv" download="groups.csv">
        Export
      </Button>
      <FileButton
        accept=".csv,text/csv"
        onChange={(file) => file && take.mutate(file)}
        inputProps={{ 'aria-label': 'Import groups' }}
      >
        {(props) => (
          <Button variant="default" loading={take.isPending} {...props}>
            Import
          </Button>
        )}
      </FileButton>
      <Button onClick={onCreate}>Create group</Button>
    </>
  )
}

interface GroupTableProps {
  readonly groups: readonly Group[]
  readonly isAdmin: boolean
  readonly onEdit: (group: Group) => void
  readonly onDelete: (group: Group) => void
}

/** Groups below the group that contains them. */
function inOrder(groups: readonly Group[]): Group[] {
  const byParent = Map.groupBy(groups, ({ parent }) => parent)
  const below = (parent: string | null): Group[] =>
    (byParent.get(parent) ?? []).flatMap((group) => [group, ...below(group.name)])
  return below(null)
}

function GroupTable({ groups, isAdmin, onEdit, onDelete }: GroupTableProps) {
  return (
    <div className="card scroll">
      <table className="plain">
        <thead>
          <tr>
            <th>Name</th>
            <th>Projects of its own</th>
            <th>Projects in all</th>
            {isAdmin && <th aria-label="Actions" />}
          </tr>
        </thead>
        <tbody>
          {inOrder(groups).map((group) => (
            <tr key={group.name}>
              <td className="cut" style={{ fontWeight: 500, maxWidth: 320 }} title={group.name}>
                <span style={{ paddingLeft: 16 * group.within.length }}>{group.name}</span>
              </td>
              <td className="cut" style={{ maxWidth: 320 }} title={group.projects.join(', ')}>
                {group.projects.join(', ') || 'none'}
              </td>
              <td>{group.allProjects}</td>
              {isAdmin && (
                <td>
                  <div className="buttons">
                    <Button size="compact-sm" variant="default" onClick={() => onEdit(group)}>
                      Edit
                    </Button>
                    <Button size="compact-sm" variant="subtle" color="red" onClick={() => onDelete(group)}>
                      Delete
                    </Button>
                  </div>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
