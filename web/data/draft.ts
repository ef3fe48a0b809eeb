import { getRouteApi } from '@tanstack/react-router'
import { present } from '../parts/address.ts'
import type { FieldDraft } from './address.ts'

const place = getRouteApi('/data/fields/map')

type Change = { readonly [Name in keyof FieldDraft]?: FieldDraft[Name] | undefined }
/** The choices made so far. They are in the address, so that the user can leave the page and come back. */
export function useDraft() {
  const draft = place.useSearch()
  const navigate = place.useNavigate()
  const change = (changes: Change) =>
    void navigate({ search: (before) => present({ ...before, ...changes }), replace: true })
  return { draft, change }
}
