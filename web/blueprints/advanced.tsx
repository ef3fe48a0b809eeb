import { Button, Switch } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import type { Blueprint } from '../api/description.ts'
import { useMay } from '../frame/sign-in.tsx'
import { useDraft } from '../parts/draft.ts'
import { type EditorProps, useChanges } from './normal.tsx'
import { PlanEditor, planIn, textOf } from './plan-editor.tsx'
import { PlanPreview } from './plan-preview.tsx'
import { useSaveBlueprint } from './save.ts'
import { SaveBar } from './save-bar.tsx'
import { When } from './when.tsx'

/** The editor of a blueprint whose plan is written by hand and runs as written. */
export function AdvancedBlueprint({ blueprint, drawer, onDrawer }: EditorProps) {
  const isAdmin = useMay('admin')
  const stored = textOf(blueprint.plan)
  const [text, setText] = useDraft(`plan ${blueprint.id}`, stored)
  const { changes, isChanged: isOtherwise, change, forget, replace } = useChanges(blueprint)
  const draft = { ...blueprint, ...changes }
  const isRewritten = text !== stored
  const plan = planIn(text)
  const { save, isSaving, failure, conflict } = useSaveBlueprint(
    () => {
      forget()
      setText(undefined)
      notifications.show({ title: 'Saved', message: 'The next run follows it.' })
    },
    (current, kept) => {
      const { id: _, plan: own, ...rest } = kept
      replace(rest as Partial<Blueprint>)
      setText(own === undefined ? textOf(current.plan) : textOf(own))
    },
  )
  return (
    <>
      <div className="beside">
        <PlanEditor text={text} onText={(next) => setText(next === stored ? undefined : next)} isReadOnly={!isAdmin} />
        <div className="stack">
          <When draft={draft} change={change} isDisabled={!isAdmin}>
            <Switch
              label="Continue when a task fails"
              description="The other tasks of its stage and the stages after it still run."
              checked={draft.skipOnFail}
              disabled={!isAdmin}
              onChange={({ currentTarget }) => change({ skipOnFail: currentTarget.checked })}
            />
          </When>
          <Button variant="default" onClick={() => onDrawer('plan')} disabled={plan === undefined}>
            Show the plan
          </Button>
        </div>
      </div>
      <SaveBar
        isChanged={isRewritten || isOtherwise}
        isSaving={isSaving}
        failure={failure}
        hint={plan === undefined ? 'The text is not a valid plan yet: see the problems below it.' : undefined}
        onSave={() => save(blueprint, { id: blueprint.id, ...changes, ...(isRewritten && { plan }) })}
        onDiscard={() => {
          forget()
          setText(undefined)
        }}
      />
      {conflict}
      <PlanPreview
        isOpen={drawer === 'plan'}
        onClose={() => onDrawer(undefined)}
        blueprintId={blueprint.id}
        draft={
          isRewritten && plan
            ? { name: draft.name, mode: 'ADVANCED', isManual: true, plan: plan as Blueprint['plan'] }
            : undefined
        }
      />
    </>
  )
}
