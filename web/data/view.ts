import { getRouteApi } from '@tanstack/react-router'
import { present } from '../parts/address.ts'
import type { TablesView } from './address.ts'

const place = getRouteApi('/data')

type Change = { readonly [Name in keyof TablesView]?: TablesView[Name] | undefined }
/** Returns a function that changes the address; the page follows it. */
export function useView() {
  const navigate = place.useNavigate()
  return (change: Change, replace = true) =>
    void navigate({ search: (before) => present({ ...before, ...change }), replace })
}

/** The name of a table without the prefix of its layer. */
export const shortName = (name: string) => name.replace(/^_(raw|tool)_/, '')
