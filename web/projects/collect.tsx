import { Button, Menu } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ask } from '../api/ask.ts'
import { refresh } from '../api/queries.ts'
import { Icon } from '../frame/icon.tsx'
import { useMay } from '../frame/sign-in.tsx'

const DOWN = 'M5 8l5 5 5-5'

/** Other kinds of runs, beside the usual one that collects what is new. */
const OTHER_WAYS = [
  {
    title: 'Collect everything again',
    says: 'A full sync: slower, but it finds every change.',
    flags: { fullSync: true },
  },
  {
    title: 'Skip collectors',
    says: 'Transforms what was stored since the last run; no source is asked.',
    flags: { skipCollectors: true },
  },
  {
    title: 'Transform all again',
    says: 'For changed rules: everything that is stored, without asking any source.',
    flags: { skipCollectors: true, fullSync: true },
  },
] as const

interface CollectProps {
  readonly blueprintId: number
  readonly isEnabled: boolean
  /** True for the only filled button of its page. */
  readonly isMain: boolean
}

/** Starts a run that collects what is new, and opens its page. Other kinds of runs are in the menu beside it. */
export function Collect({ blueprintId, isEnabled, isMain }: CollectProps) {
  const navigate = useNavigate()
  const may = useMay('operator')
  const start = useMutation({
    mutationFn: (body: object) => ask('POST /blueprints/{id}/trigger', { path: { id: blueprintId }, body }),
    onSuccess: async ({ id }) => {
      await refresh('GET /pipelines', 'GET /projects', 'GET /projects/{projectName}', 'GET /blueprints/{id}/pipelines')
      void navigate({ to: '/runs/$id', params: { id: String(id) } })
    },
    onError: ({ message }) => notifications.show({ color: 'red', title: 'It did not start', message }),
  })
  if (!may) return null
  const look = {
    variant: isMain ? 'filled' : 'default',
    disabled: !isEnabled,
    title: isEnabled ? undefined : 'The blueprint is switched off',
  } as const
  return (
    <Button.Group>
      <Button {...look} loading={start.isPending} onClick={() => start.mutate({})}>
        Collect now
      </Button>
      <Menu position="bottom-end" width={320}>
        <Menu.Target>
          <Button {...look} px={8} disabled={!isEnabled || start.isPending} aria-label="Other ways to collect">
            <Icon path={DOWN} />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {OTHER_WAYS.map(({ title, says, flags }) => (
            <Menu.Item key={title} onClick={() => start.mutate(flags)}>
              {title}
              <div className="small quiet">{says}</div>
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </Button.Group>
  )
}
