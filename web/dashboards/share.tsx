import { Button, Drawer, NativeSelect } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type AnswerTo, ask } from '../api/ask.ts'
import { question, refresh } from '../api/queries.ts'
import { AskFirst } from '../parts/ask-first.tsx'
import { Copy } from '../parts/copy.tsx'
import { Asked, Moment } from '../parts/parts.tsx'
import type { Definition, Period, Values } from './view.ts'

type Link = AnswerTo<'GET /v1/shared-dashboards'>[number]

interface ShareProps {
  readonly definition: Definition
  readonly values: Values
  /** The range as written in the address: a relative range stays relative. */
  readonly range: Period
  readonly onClose: () => void
}

const DAY_MS = 86_400_000
const LIVES = [
  { value: '', label: 'Until it is revoked' },
  { value: '7', label: 'For a week' },
  { value: '30', label: 'For 30 days' },
  { value: '365', label: 'For a year' },
]

/** Public links: whoever has one sees this dashboard and nothing else. */
export function Share({ definition, values, range, onClose }: ShareProps) {
  const [days, setDays] = useState('')
  const links = useQuery(question('GET /v1/shared-dashboards'))
  const making = useMutation({
    mutationFn: () =>
      ask('POST /v1/shared-dashboards', {
        body: {
          dashboard: definition.name,
          values,
          ...range,
          ...(days && { expiresAt: new Date(Date.now() + Number(days) * DAY_MS).toISOString() }),
        },
      }),
    onSuccess: () => refresh('GET /v1/shared-dashboards'),
  })
  const address = making.data && `${location.origin}/shared/${making.data.token}`
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      title="Public links"
      closeButtonProps={{ 'aria-label': 'Close' }}
      overlayProps={{ backgroundOpacity: 0.25 }}
    >
      <p className="quiet" style={{ marginBottom: 16 }}>
        Whoever has a link sees <b>{definition.title}</b> as it is chosen now
        {typeof values.project === 'string' && (
          <>
            {' '}
            for <b>{values.project}</b>
          </>
        )}
        , without signing in. They can change nothing, and see nothing else.
      </p>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          making.mutate()
        }}
      >
        <NativeSelect
          label="It works"
          data={LIVES}
          value={days}
          onChange={({ currentTarget }) => setDays(currentTarget.value)}
        />
        <div>
          <Button type="submit" variant="default" loading={making.isPending}>
            Make a link
          </Button>
        </div>
      </form>
      {making.error && (
        <p role="alert" className="outcome bad">
          {making.error.message}
        </p>
      )}
      {address && (
        <div className="outcome good" style={{ marginTop: 16 }}>
          <p className="small" style={{ marginBottom: 8 }}>
            The link is shown once; who loses it makes another.
          </p>
          <p className="mono" style={{ overflowWrap: 'anywhere', marginBottom: 8 }}>
            <a href={address} target="_blank" rel="noreferrer">
              {address}
            </a>
          </p>
          <Copy text={address} label="Copy link" />
        </div>
      )}
      <h3 style={{ margin: '24px 0 4px' }}>Links to this dashboard</h3>
      <Asked of={links} lines={2}>
        {(all) => <LinkList links={all.filter(({ dashboard }) => dashboard === definition.name)} />}
      </Asked>
    </Drawer>
  )
}

function LinkList({ links }: { readonly links: readonly Link[] }) {
  const [revoked, setRevoked] = useState<Link>()
  if (links.length === 0) return <p className="quiet">There is none.</p>
  return (
    <div className="lines">
      {links.map((link) => (
        <div key={link.id} className="row">
          <div style={{ minWidth: 0 }}>
            <p className="cut">
              <bdi>{wordsOf(link)}</bdi>
            </p>
            <p className="small faint">
              <Moment at={link.createdAt} />
              {link.maker && ` by ${link.maker}`}
              {link.expiresAt && (
                <>
                  , until <Moment at={link.expiresAt} />
                </>
              )}
            </p>
          </div>
          <Button
            variant="default"
            size="compact-sm"
            aria-label={`Revoke link ${link.id}`}
            onClick={() => setRevoked(link)}
          >
            Revoke
          </Button>
        </div>
      ))}
      {revoked && (
        <AskFirst
          title="Revoke this link?"
          action="Revoke link"
          onClose={() => setRevoked(undefined)}
          act={async () => {
            await ask('DELETE /v1/shared-dashboards/{id}', { path: { id: revoked.id } })
            await refresh('GET /v1/shared-dashboards')
          }}
        >
          Whoever has it sees nothing from now on, and it cannot be brought back. The dashboard stays.
        </AskFirst>
      )}
    </div>
  )
}

const wordsOf = ({ values, from, to }: Link): string =>
  [...Object.values(values).map((value) => [value].flat().join(', ')), `${from} to ${to}`].join(' · ')
