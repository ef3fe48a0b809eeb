import { Button, Switch, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import type { Blueprint } from '../api/description.ts'
import { useMay } from '../frame/sign-in.tsx'
import { useDraft } from '../parts/draft.ts'
import { AddSelector } from './add-selector.tsx'
import type { OpenDrawer } from './address.ts'
import { PlanPreview } from './plan-preview.tsx'
import { useSaveBlueprint } from './save.ts'
import { SaveBar } from './save-bar.tsx'
import { ScopePicker } from './scopes.tsx'
import { Selectors } from './selectors.tsx'
import { When } from './when.tsx'

export interface EditorProps {
  readonly blueprint: Blueprint
  readonly drawer: OpenDrawer | undefined
  readonly onDrawer: (drawer: OpenDrawer | undefined) => void
}

type Changes = Partial<
  Pick<Blueprint, 'connections' | 'timeAfter' | 'isManual' | 'cronConfig' | 'skipOnFail' | 'enable' | 'name' | 'plan'>
>

/** Unsaved changes, kept until they are saved. Changes equal to the stored value are left out. */
export function useChanges(blueprint: Blueprint) {
  const [changes, setChanges] = useDraft<Changes>(`blueprint ${blueprint.id}`, {})
  const isSame = (name: keyof Changes) => JSON.stringify(changes[name]) === JSON.stringify(blueprint[name])
  const real = Object.fromEntries(Object.entries(changes).filter(([name]) => !isSame(name as keyof Changes))) as Changes
  const change = (next: Changes) => setChanges({ ...real, ...next })
  const isChanged = Object.keys(real).length > 0
  return { changes: real, isChanged, change, forget: () => setChanges(undefined), replace: setChanges }
}

export function NormalBlueprint({ blueprint, drawer, onDrawer }: EditorProps) {
  const isAdmin = useMay('admin')
  const { changes, isChanged, change, forget, replace } = useChanges(blueprint)
  const draft = { ...blueprint, ...changes }
  const { save, isSaving, failure, conflict } = useSaveBlueprint(
    () => {
      forget()
      notifications.show({ title: 'Saved', message: 'The next run follows it.' })
    },
    (_, kept) => {
      const { id: _id, ...own } = kept
      replace(own as Changes)
    },
  )
  const empty = draft.connections.filter((each) => each.pluginName !== 'webhook' && each.scopes.length === 0)
  return (
    <>
      <div className="beside">
        <div className="stack">
          <section className="card">
            <h2 style={{ marginBottom: 4 }}>What is collected</h2>
            <p className="small quiet" style={{ marginBottom: 16 }}>
              The repositories, boards and builds that this project is made of.
            </p>
            <ScopePicker
              value={draft.connections}
              onChange={(connections) => change({ connections })}
              isDisabled={!isAdmin}
            />
          </section>
          <Selectors
            blueprint={blueprint}
            isUnsaved={changes.connections !== undefined}
            onAdd={() => onDrawer('selector')}
          />
        </div>
        <div className="stack">
          <When draft={draft} change={change} isDisabled={!isAdmin} />
          <section className="card">
            <h2 style={{ marginBottom: 12 }}>Start date</h2>
            <TextInput
              type="date"
              label="Collect what was changed after"
              description="Default: six months ago. Empty: everything."
              value={draft.timeAfter?.slice(0, 10) ?? ''}
              disabled={!isAdmin}
              onChange={({ currentTarget: { value } }) =>
                change({ timeAfter: value === '' ? null : `${value}T00:00:00.000Z` })
              }
              maw={280}
            />
          </section>
          <section className="card">
            <h2 style={{ marginBottom: 12 }}>When a part fails</h2>
            <Switch
              label="Continue with the others"
              description="If one repository cannot be reached, the others still get their numbers."
              checked={draft.skipOnFail}
              disabled={!isAdmin}
              onChange={({ currentTarget }) => change({ skipOnFail: currentTarget.checked })}
            />
          </section>
          <Button variant="default" onClick={() => onDrawer('plan')} disabled={empty.length > 0}>
            Show the plan
          </Button>
        </div>
      </div>
      <SaveBar
        isChanged={isChanged}
        isSaving={isSaving}
        failure={failure}
        hint={empty.length > 0 ? 'Choose at least one scope of every connection, or take it out.' : undefined}
        onSave={() => save(blueprint, { id: blueprint.id, ...changes })}
        onDiscard={forget}
      />
      {conflict}
      <AddSelector
        blueprint={blueprint}
        isOpen={drawer === 'selector' && isAdmin}
        onClose={() => onDrawer(undefined)}
      />
      <PlanPreview
        isOpen={drawer === 'plan'}
        onClose={() => onDrawer(undefined)}
        blueprintId={blueprint.id}
        draft={
          isChanged
            ? {
                name: draft.name,
                mode: 'NORMAL',
                projectName: draft.projectName,
                connections: draft.connections,
                cronConfig: draft.cronConfig,
                isManual: draft.isManual,
                timeAfter: draft.timeAfter,
              }
            : undefined
        }
      />
    </>
  )
}
