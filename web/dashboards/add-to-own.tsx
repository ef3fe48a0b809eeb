import { Button, Modal, TextInput } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../api/ask.ts'
import { question, refresh } from '../api/queries.ts'
import { Asked } from '../parts/parts.tsx'
import { type OwnDashboard, saveOwn, widthLike } from './own.ts'
import type { Panel } from './view.ts'

interface AddToOwnProps {
  readonly panel: Panel
  readonly onClose: () => void
}

/** Adds a panel of any dashboard to one of the user's own dashboards. */
export function AddToOwn({ panel, onClose }: AddToOwnProps) {
  const all = useQuery(question('GET /v1/own-dashboards'))
  const [title, setTitle] = useState('')
  const navigate = useNavigate()
  const { origin } = panel
  const added = { ...origin, width: widthLike(panel.width) }
  const adding = useMutation({
    mutationFn: (to: OwnDashboard | null) =>
      to
        ? saveOwn(to, { panels: [...to.panels, added] })
        : ask('POST /v1/own-dashboards', { body: { title, panels: [added] } }),
    onSuccess: async ({ name, title: where }) => {
      onClose()
      notifications.show({
        title: `${panel.title} is on ${where}`,
        message: (
          <Button
            variant="default"
            size="compact-sm"
            onClick={() => void navigate({ to: '/dashboards/$dashboard', params: { dashboard: name } })}
          >
            Show {where}
          </Button>
        ),
      })
      await refresh('GET /v1/dashboards', 'GET /v1/own-dashboards')
    },
  })
  const isOn = ({ panels }: OwnDashboard) =>
    panels.some((each) => each.dashboard === origin.dashboard && each.panel === origin.panel)
  return (
    <Modal opened onClose={onClose} title={`Add “${panel.title}” to`} centered>
      <Asked of={all} lines={2}>
        {(some) => (
          <div className="form">
            {some.length > 0 && (
              <div style={{ margin: '0 -10px' }}>
                {some.map((each) => (
                  <button
                    key={each.id}
                    type="button"
                    className="choice"
                    disabled={isOn(each) || adding.isPending}
                    onClick={() => adding.mutate(each)}
                  >
                    <bdi className="cut">{each.title}</bdi>
                    <span className="small faint">{isOn(each) ? 'is on it' : `${each.panels.length} panels`}</span>
                  </button>
                ))}
              </div>
            )}
            <form
              onSubmit={(event) => {
                event.preventDefault()
                adding.mutate(null)
              }}
              className="actions"
              style={{ alignItems: 'flex-end' }}
            >
              <TextInput
                label="A new dashboard"
                placeholder="Name"
                value={title}
                onChange={({ currentTarget }) => setTitle(currentTarget.value)}
                maxLength={100}
                required
                style={{ flex: 1 }}
              />
              <Button type="submit" variant="default" loading={adding.isPending}>
                Create and add
              </Button>
            </form>
            {adding.error && (
              <p role="alert" className="bad">
                {adding.error.message}
              </p>
            )}
          </div>
        )}
      </Asked>
    </Modal>
  )
}
