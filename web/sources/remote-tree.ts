/** The scopes that a source offers, loaded group by group as the user opens them. Further pages of a group are loaded automatically. */
import { useCallback, useEffect, useRef, useState } from 'react'
import { ask } from '../api/ask.ts'
import type { RemoteScope } from '../api/description.ts'

export interface Branch {
  readonly entries: readonly RemoteScope[]
  readonly isDone: boolean
  readonly failure?: string
}

/** The id of the root group. */
export const ROOT = ''
const MOST_PAGES = 500

export interface RemoteTree {
  readonly branches: ReadonlyMap<string, Branch>
  /** Starts to read a group, or reads it again after a failure. Returns all of its entries. */
  read(group: string): Promise<readonly RemoteScope[]>
}

const names = new Intl.Collator('en', { numeric: true })
/** Sorts groups before scopes, and then by name. */
const byKindAndName = (left: RemoteScope, right: RemoteScope) =>
  left.type.localeCompare(right.type) || names.compare(left.fullName, right.fullName)

interface Reading {
  promise: Promise<readonly RemoteScope[]>
  pageToken: string
  entries: readonly RemoteScope[]
}

export function useRemoteTree(plugin: string, connectionId: number): RemoteTree {
  const [branches, setBranches] = useState<ReadonlyMap<string, Branch>>(new Map())
  const readings = useRef(new Map<string, Reading>())
  const leaving = useRef(new AbortController())

  const read = useCallback(
    (group: string) => {
      const known = readings.current.get(group)
      if (known) return known.promise
      const reading: Reading = { promise: Promise.resolve([]), pageToken: '', entries: [] }
      readings.current.set(group, reading)
      const { signal } = leaving.current
      const show = (branch: Branch) => {
        if (!signal.aborted) setBranches((before) => new Map(before).set(group, branch))
      }
      const go = async () => {
        try {
          for (let pages = 0; pages < MOST_PAGES; pages++) {
            const { children, nextPageToken } = await ask(
              'GET /plugins/{plugin}/connections/{connectionId}/remote-scopes',
              {
                path: { plugin, connectionId },
                query: {
                  ...(group !== ROOT && { groupId: group }),
                  ...(reading.pageToken && { pageToken: reading.pageToken }),
                },
              },
              signal,
            )
            reading.entries = [...reading.entries, ...children].sort(byKindAndName)
            reading.pageToken = nextPageToken
            show({ entries: reading.entries, isDone: nextPageToken === '' })
            if (nextPageToken === '') break
          }
        } catch (error) {
          readings.current.delete(group)
          show({ entries: reading.entries, isDone: false, failure: (error as Error).message })
          throw error
        }
        return reading.entries
      }
      reading.promise = go()
      // The branch shows the failure, and callers that wait for the whole group get it as well.
      reading.promise.catch(() => undefined)
      return reading.promise
    },
    [plugin, connectionId],
  )

  useEffect(() => {
    leaving.current = new AbortController()
    readings.current.clear()
    setBranches(new Map())
    void read(ROOT).catch(() => undefined)
    return () => leaving.current.abort()
  }, [read])

  return { branches, read }
}
