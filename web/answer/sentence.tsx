import { Link } from '@tanstack/react-router'
import type { Sentence as Pieces } from '../api/description.ts'

/** The part of an address of items that the page needs to open them. */
function placeOf(metric: string, items: string) {
  const asked = new URL(items, location.origin).searchParams
  const [since, until] = [asked.get('from'), asked.get('to')]
  return { items: metric, ...(since && { since }), ...(until && { until }) }
}

/** Words and figures; every figure opens the items that it is made of. */
export const Sentence = ({ of }: { readonly of: Pieces }) =>
  of.map((piece, place) => {
    if (typeof piece === 'string') return piece
    const { figure, metric, items } = piece
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: a sentence never changes its order
      <Link key={place} from="/answer" to="/answer" search={(now) => ({ ...now, ...placeOf(metric, items) })}>
        {figure}
      </Link>
    )
  })
