import type { CSSProperties, ReactNode } from 'react'
import { PanelCard } from './panel.tsx'
import { type Panel, useView } from './view.ts'

const ROW_PIXELS = 30
/** On a screen of medium width, two panels stand side by side, or one alone. */
const middling = (width: number) => (width <= 12 ? (width <= 8 ? 12 : 24) : 24)

export const placeOf = ({ width, height }: Pick<Panel, 'width' | 'height'>): CSSProperties =>
  ({ '--span': width, '--span-middle': middling(width), '--height': `${height * ROW_PIXELS}px` }) as CSSProperties

/** A grid of 24 columns; on a phone, one column. */
export function Grid(): ReactNode {
  const { definition } = useView()
  return definition.sections.map(({ title, panels }, section) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: sections have no name, and never move
    <section key={section} className="panel-section">
      {title && <h2>{title}</h2>}
      <div className="panels">
        {panels.map((panel) => (
          <article
            key={panel.name}
            className="card panel"
            data-look={panel.look}
            aria-label={panel.title}
            style={placeOf(panel)}
          >
            <PanelCard panel={panel} />
          </article>
        ))}
      </div>
    </section>
  ))
}
