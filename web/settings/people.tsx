import { Button, FileButton, Switch } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ask } from '../api/ask.ts'
import { question, refresh } from '../api/queries.ts'
import { useMay } from '../frame/sign-in.tsx'
import { SettingsPage } from './settings-page.tsx'

const FILES = [
  {
    name: 'teams.csv',
    title: 'Teams',
    says: 'Who works together, and below which team.',
    effect: 'A file replaces all teams.',
    hasSample: true,
    replaces: true,
  },
  {
    name: 'users.csv',
    title: 'People',
    says: 'Everybody by name and mail address, with the teams they belong to.',
    effect: 'A file replaces all people and the members of all teams.',
    hasSample: true,
    replaces: true,
  },
  {
    name: 'user_account_mapping.csv',
    title: 'Accounts of people',
    says: 'Which account in a tool belongs to whom. The export lists all collected accounts: fill in UserId.',
    effect: 'A file replaces the whole mapping.',
    hasSample: false,
    replaces: true,
  },
  {
    name: 'project_mapping.csv',
    title: 'Scopes of projects',
    says: 'Which boards, repositories and build jobs belong to which project, beside what blueprints say.',
    effect: 'A file adds to what is there.',
    hasSample: true,
    replaces: false,
  },
] as const
type OrgFile = (typeof FILES)[number]

const put = (name: OrgFile['name'], file: Blob) => {
  const form = new FormData()
  form.set('file', file, name)
  return ask(`PUT /plugins/org/${name}`, { body: form as unknown as { file: string } })
}

export function PeoplePage() {
  return (
    <SettingsPage title="People" says="Who is who, as CSV files that you keep in a spreadsheet.">
      <div className="sections">
        {FILES.map((file) => (
          <FileCard key={file.name} file={file} />
        ))}
        <PersonalViews />
      </div>
    </SettingsPage>
  )
}

function PersonalViews() {
  const isAdmin = useMay('admin')
  const views = useQuery(question('GET /v1/personal-views'))
  const change = useMutation({
    mutationFn: (isOn: boolean) => ask('PUT /v1/personal-views', { body: { isOn } }),
    onSuccess: () => refresh('GET /v1/personal-views'),
  })
  return (
    <section className="card" aria-label="Personal views">
      <h2 style={{ marginBottom: 12 }}>Personal views</h2>
      <Switch
        label="Everybody may see their own work"
        description="What waits for you, what of yours waits, and where your changes are. Nobody sees that of others, and nothing ranks people."
        checked={views.data?.isOn ?? true}
        disabled={!isAdmin || !views.data || change.isPending}
        onChange={({ currentTarget }) => change.mutate(currentTarget.checked)}
      />
      {change.error && (
        <p role="alert" className="bad">
          {change.error.message}
        </p>
      )}
    </section>
  )
}

function FileCard({ file: { name, title, says, effect, hasSample, replaces } }: { readonly file: OrgFile }) {
  const isAdmin = useMay('admin')
  const [chosen, setChosen] = useState('')
  const restore = useMutation({
    mutationFn: (before: string) => put(name, new Blob([before], { type: 'text/csv' })),
    onSuccess: () => notifications.show({ message: `${title}: as it was before.` }),
    onError: ({ message }) => notifications.show({ color: 'red', title: 'It was not undone', message }),
  })
  const take = useMutation({
    mutationFn: async (file: File) => {
      setChosen(file.name)
      const before = replaces ? ((await ask(`GET /plugins/org/${name}`)) as string) : undefined
      await put(name, file)
      return before
    },
    onSuccess: (before) => {
      const id = notifications.show({
        autoClose: 15_000,
        title: `${title} imported`,
        message:
          before === undefined ? (
            'It was added to what is there.'
          ) : (
            <Button
              variant="default"
              size="compact-sm"
              onClick={() => {
                notifications.hide(id)
                restore.mutate(before)
              }}
            >
              Undo
            </Button>
          ),
      })
    },
  })
  return (
    <section className="card" aria-label={title}>
      <div className="section-head" style={{ marginBottom: take.error ? 12 : 0 }}>
        <div>
          <h2>{title}</h2>
          <p>
            {says} {effect}
          </p>
        </div>
        <div className="buttons">
          {hasSample && (
            <Button variant="subtle" component="a" href={`/api/plugins/org/${name}?fake_data=true`} download={name}>
              Sample
            </Button>
          )}
          <Button variant="default" component="a" href={`/api/plugins/org/${name}`} download={name}>
            Export
          </Button>
          {isAdmin && (
            <FileButton
              accept=".csv,text/csv"
              onChange={(file) => file && take.mutate(file)}
              inputProps={{ 'aria-label': `Import ${title}` }}
            >
              {(props) => (
                <Button variant="default" loading={take.isPending} {...props}>
                  Import
                </Button>
              )}
            </FileButton>
          )}
        </div>
      </div>
      {take.error && (
        <p role="alert" className="bad" style={{ overflowWrap: 'anywhere' }}>
          {chosen && chosen !== name && `${chosen}: `}
          {take.error.message}
        </p>
      )}
    </section>
  )
}
