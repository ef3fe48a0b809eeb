/** Arranges an own dashboard: by dragging, with buttons, and with the keyboard. */
import { Button, Drawer, NativeSelect, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQueries, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type DragEvent, useState } from 'react'
import { ask } from '../api/ask.ts'
import { question, refresh } from '../api/queries.ts'
import { AskFirst } from '../parts/ask-first.tsx'
import { Asked, Empty } from '../parts/parts.tsx'
import { placeOf } from './grid.tsx'
import { type OwnDashboard, type OwnPanel, saveOwn, useOwn, useSaveOwn, WIDTHS, widthLike } from './own.ts'
import { PanelCard } from './panel.tsx'
import { useView } from './view.ts'

export function Arrange({ id, onDone }: { readonly id: number; readonly onDone: () => void }) {
  const own = useOwn(id)
  return <Asked of={own}>{(dashboard) => <Arranged dashboard={dashboard} onDone={onDone} />}</Asked>
}

interface ArrangedProps {
  readonly dashboard: OwnDashboard
  readonly onDone: () => void
}

function Arranged({ dashboard, onDone }: ArrangedProps) {
  const [isAdding, setAdding] = useState(false)
  const [isDeleting, setDeleting] = useState(false)
  const saving = useSaveOwn(dashboard)
  const navigate = useNavigate()
  const { panels } = dashboard
  return (
    <>
      <div className="arrange-bar">
        <Names key={dashboard.updatedAt} dashboard={dashboard} onSave={saving.mutate} />
        <div className="actions">
          <Button variant="default" onClick={() => setAdding(true)}>
            Add panels
          </Button>
          <Button variant="subtle" color="red" onClick={() => setDeleting(true)}>
            Delete
          </Button>
          <Button onClick={onDone}>Done</Button>
        </div>
      </div>
      {saving.error && (
        <p role="alert" className="notice failing">
          {saving.error.message}
        </p>
      )}
      {panels.length === 0 ? (
        <Empty
          title="No panel yet"
          action={
            <Button variant="default" onClick={() => setAdding(true)}>
              Add the first
            </Button>
          }
        >
          Take panels from any dashboard. On each of them, “Add to my dashboard” does the same.
        </Empty>
      ) : (
        <ArrangedPanels dashboard={dashboard} onChange={(changed) => saving.mutate({ panels: changed })} />
      )}
      {isAdding && (
        <AddPanels
          panels={panels}
          onAdd={(panel) => saving.mutate({ panels: [...panels, panel] })}
          onClose={() => setAdding(false)}
        />
      )}
      {isDeleting && (
        <AskFirst
          title={`Delete ${dashboard.title}?`}
          action="Delete dashboard"
          onClose={() => setDeleting(false)}
          act={async () => {
            await ask('DELETE /v1/own-dashboards/{id}', { path: { id: dashboard.id } })
            await navigate({ to: '/dashboards' })
            await refresh('GET /v1/dashboards', 'GET /v1/own-dashboards')
          }}
        >
          Goes: this arrangement of {panels.length} panels, and public links to it. Stays: the panels on the dashboards
          that they come from, and all data.
        </AskFirst>
      )}
    </>
  )
}

interface NamesProps {
  readonly dashboard: OwnDashboard
  readonly onSave: (changes: { title?: string; question?: string }) => void
}

function Names({ dashboard, onSave }: NamesProps) {
  const [title, setTitle] = useState(dashboard.title)
  const [asked, setAsked] = useState(dashboard.question)
  return (
    <div className="names">
      <TextInput
        label="Name"
        value={title}
        onChange={({ currentTarget }) => setTitle(currentTarget.value)}
        onBlur={() => title.trim() !== '' && title !== dashboard.title && onSave({ title })}
        maxLength={100}
      />
      <TextInput
        label="Question"
        value={asked}
        onChange={({ currentTarget }) => setAsked(currentTarget.value)}
        onBlur={() => asked !== dashboard.question && onSave({ question: asked })}
        maxLength={255}
      />
    </div>
  )
}

const moved = <Thing,>(things: readonly Thing[], from: number, to: number): Thing[] => {
  const rest = things.filter((_, place) => place !== from)
  return [...rest.slice(0, to), things[from] as Thing, ...rest.slice(to)]
}

interface ArrangedPanelsProps {
  readonly dashboard: OwnDashboard
  readonly onChange: (panels: readonly OwnPanel[]) => void
}

function ArrangedPanels({ dashboard, onChange }: ArrangedPanelsProps) {
  const { definition } = useView()
  const [dragged, setDragged] = useState<number>()
  const { panels } = dashboard
  const known = definition.sections.flatMap((section) => section.panels)
  const remove = (place: number, title: string) => {
    onChange(panels.filter((_, each) => each !== place))
    const undo = async () => {
      notifications.hide(notice)
      const now = await ask('GET /v1/own-dashboards/{id}', { path: { id: dashboard.id } })
      const back = [...now.panels.slice(0, place), panels[place] as OwnPanel, ...now.panels.slice(place)]
      await saveOwn(now, { panels: back })
    }
    const notice = notifications.show({
      title: `${title} is taken away`,
      message: (
        <Button variant="default" size="compact-sm" onClick={() => void undo()}>
          Undo
        </Button>
      ),
    })
  }
  return (
    <div className="panels">
      {panels.map((each, place) => {
        const panel = known.find(({ origin }) => origin.dashboard === each.dashboard && origin.panel === each.panel)
        const title = panel?.title ?? each.panel
        return (
          <article
            key={`${each.dashboard} ${each.panel}`}
            className={dragged === place ? 'card panel dragged' : 'card panel'}
            aria-label={title}
            style={placeOf({ width: each.width, height: panel?.height ?? 5 })}
            draggable
            onDragStart={() => setDragged(place)}
            onDragEnd={() => setDragged(undefined)}
            onDragOver={(event: DragEvent) => event.preventDefault()}
            onDrop={() => dragged !== undefined && dragged !== place && onChange(moved(panels, dragged, place))}
          >
            <div className="arrange-tools">
              <button
                type="button"
                className="quiet-button"
                aria-label={`Move ${title} earlier`}
                disabled={place === 0}
                onClick={() => onChange(moved(panels, place, place - 1))}
              >
                ← Earlier
              </button>
              <button
                type="button"
                className="quiet-button"
                aria-label={`Move ${title} later`}
                disabled={place === panels.length - 1}
                onClick={() => onChange(moved(panels, place, place + 1))}
              >
                Later →
              </button>
              <NativeSelect
                size="xs"
                aria-label={`Width of ${title}`}
                value={String(each.width)}
                data={WIDTHS.map(({ value, label }) => ({ value: String(value), label }))}
                onChange={({ currentTarget }) => {
                  const width = Number(currentTarget.value)
                  onChange(panels.map((other, index) => (index === place ? { ...other, width } : other)))
                }}
              />
              <button
                type="button"
                className="quiet-button"
                aria-label={`Take ${title} away`}
                onClick={() => remove(place, title)}
              >
                Remove
              </button>
            </div>
            {panel ? (
              <PanelCard panel={panel} />
            ) : (
              <p className="quiet">This version of Weir has no such panel any more.</p>
            )}
          </article>
        )
      })}
    </div>
  )
}

interface AddPanelsProps {
  readonly panels: readonly OwnPanel[]
  readonly onAdd: (panel: OwnPanel) => void
  readonly onClose: () => void
}

function AddPanels({ panels, onAdd, onClose }: AddPanelsProps) {
  const [words, setWords] = useState('')
  const list = useQuery(question('GET /v1/dashboards'))
  const definitions = useQueries({
    queries: (list.data ?? [])
      .filter(({ group }) => group !== 'Your own')
      .map(({ name }) => ({
        ...question('GET /v1/dashboards/{dashboard}', { path: { dashboard: name } }),
        staleTime: Number.POSITIVE_INFINITY,
      })),
  })
  const sought = words.trim().toLowerCase()
  return (
    <Drawer opened onClose={onClose} position="right" title="Add panels" closeButtonProps={{ 'aria-label': 'Close' }}>
      <TextInput
        label="Find a panel"
        value={words}
        onChange={({ currentTarget }) => setWords(currentTarget.value)}
        mb={16}
        data-autofocus
      />
      {definitions.map(({ data }) => {
        const fitting = (data?.sections.flatMap((section) => section.panels) ?? []).filter(({ title }) =>
          `${data?.title} ${title}`.toLowerCase().includes(sought),
        )
        if (!data || fitting.length === 0) return null
        return (
          <section key={data.name} style={{ marginBottom: 16 }}>
            <h3>{data.title}</h3>
            <div style={{ margin: '4px -10px' }}>
              {fitting.map(({ name, title, look, origin, width }) => {
                const isOn = panels.some((each) => each.dashboard === origin.dashboard && each.panel === origin.panel)
                return (
                  <button
                    key={name}
                    type="button"
                    className="choice"
                    disabled={isOn}
                    onClick={() => onAdd({ ...origin, width: widthLike(width) })}
                  >
                    <span>{title}</span>
                    <span className="small faint">{isOn ? 'is on it' : look}</span>
                  </button>
                )
              })}
            </div>
          </section>
        )
      })}
    </Drawer>
  )
}
