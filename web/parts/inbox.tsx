/** Received messages: a list that is updated, and the details of each. */

import { Drawer } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Asked, Moment } from './parts.tsx'
import { Table } from './table.tsx'
import { count } from './words.ts'

/** The most messages shown, and how often they are loaded. */
export const INBOX = { pageSize: 200, everyMs: 4_000 } as const

interface Message {
  readonly id: number
  readonly createdAt: string
}
interface InboxProps<Of extends Message> {
  readonly asked: UseQueryResult<{ readonly deliveries: readonly Of[] }>
  /** The name of these messages, in the plural. */
  readonly noun: string
  readonly empty: string
  readonly kind: { readonly heading: string; readonly of: (message: Of) => string }
  readonly columns: readonly { readonly heading: string; readonly cell: (message: Of) => ReactNode }[]
  readonly open: number | undefined
  readonly onOpen: (id: number | undefined) => void
  readonly detail: (message: Of) => ReactNode
}

const ONE_LINE = { whiteSpace: 'nowrap' } as const

export function Inbox<Of extends Message>(inbox: InboxProps<Of>) {
  const { asked, noun, empty, kind, columns, open, onOpen, detail } = inbox
  const opened = asked.data?.deliveries.find(({ id }) => id === open)
  return (
    <section className="card" aria-labelledby="inbox">
      <div className="section-head">
        <div>
          <h2 id="inbox">Inbox</h2>
          <p>
            The last {INBOX.pageSize} {noun}. They appear here by themselves.
          </p>
        </div>
      </div>
      <Asked of={asked}>
        {({ deliveries }) =>
          deliveries.length === 0 ? (
            <p className="quiet">{empty}</p>
          ) : (
            <div className="scroll">
              <Table heads={['When', ...[kind, ...columns].map(({ heading }) => heading)]}>
                {deliveries.map((message) => (
                  <tr key={message.id}>
                    <td style={ONE_LINE}>
                      <Moment at={message.createdAt} />
                    </td>
                    <td style={ONE_LINE}>
                      <button type="button" className="link" onClick={() => onOpen(message.id)}>
                        {kind.of(message)}
                      </button>
                    </td>
                    {columns.map(({ heading, cell }) => (
                      <td key={heading} className="quiet" style={{ overflowWrap: 'anywhere' }}>
                        {cell(message)}
                      </td>
                    ))}
                  </tr>
                ))}
              </Table>
            </div>
          )
        }
      </Asked>
      <Drawer
        opened={open !== undefined}
        onClose={() => onOpen(undefined)}
        position="right"
        size="lg"
        title={opened ? kind.of(opened) : 'Delivery'}
      >
        {opened ? detail(opened) : asked.data && <p className="quiet">Newer {noun} have replaced this one.</p>}
      </Drawer>
    </section>
  )
}

interface PayloadProps {
  readonly title: string
  readonly payload: string
  readonly characters: number
  /** Shown instead of an empty payload. */
  readonly empty?: string
}

export const Payload = ({ title, payload, characters, empty }: PayloadProps) => (
  <section>
    <h3 style={{ marginBottom: 8 }}>{title}</h3>
    {payload === '' ? <p className="quiet">{empty}</p> : <pre className="code wrap">{pretty(payload)}</pre>}
    {characters > payload.length && (
      <p className="small quiet" style={{ marginTop: 8 }}>
        Its first {count(payload.length)} of {count(characters)} characters.
      </p>
    )}
  </section>
)

/** A payload that was cut is no longer valid JSON. */
function pretty(payload: string): string {
  try {
    return JSON.stringify(JSON.parse(payload), null, 2)
  } catch {
    return payload
  }
}
