import type { Answer } from '../api/description.ts'
import { addressOf, LinkTo } from '../parts/anywhere.tsx'

/** One sentence for each cause, most costly first; the details are folded. */
export function Causes({ of }: { readonly of: Answer['attention'] }) {
  if (of.length === 0) return null
  return (
    <article className="card" aria-label="What needs attention">
      <h3>What needs attention</h3>
      {of.map(({ sentence, remedy, page, details }) => (
        <div className="why" key={sentence}>
          <div>
            {sentence}
            <small>{remedy}</small>
            {details.length > 0 && (
              <details className="small quiet">
                <summary>Details</summary>
                <ul>
                  {details.map((detail) => (
                    <li key={detail}>{detail}</li>
                  ))}
                </ul>
              </details>
            )}
          </div>
          {page && <LinkTo at={addressOf(page)}>Mend it</LinkTo>}
        </div>
      ))}
    </article>
  )
}
