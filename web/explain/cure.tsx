import { Link } from '@tanstack/react-router'
import type { Cure, RulePlace } from '../api/description.ts'
import { type Address, ButtonTo, pathOf } from '../parts/anywhere.tsx'

/** Shows names given by tools as code: they are between backquotes. */
export const Marked = ({ text }: { readonly text: string }) =>
  text.split('`').map((part, index) =>
    index % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text do not move
      <code key={index} className="mono">
        <bdi>{part}</bdi>
      </code>
    ) : (
      part
    ),
  )

interface CureProps {
  readonly cure: Cure | null
  readonly project: { readonly name: string }
  readonly places: readonly RulePlace[]
  readonly months: number
}

const MOST_PLACES = 3

/** Leads to the page where the user can do something about items that do not count. */
export function CureButton({ cure, project: { name }, places, months }: CureProps) {
  if (!cure) return null
  const tab = (word: string) => ({ path: pathOf`/projects/${name}`, search: { tab: word } })
  switch (cure.kind) {
    case 'rules':
      return <Rules cure={cure} project={name} places={places} otherwise={tab('blueprint')} />
    case 'policy':
      return (
        <ButtonTo size="compact-sm" at={tab('policies')}>
          Choose a policy
        </ButtonTo>
      )
    case 'collection':
      return (
        <ButtonTo size="compact-sm" at={tab('blueprint')}>
          Change what is collected
        </ButtonTo>
      )
    case 'run':
      return (
        <ButtonTo size="compact-sm" at={{ path: '/runs' }}>
          Show runs
        </ButtonTo>
      )
    case 'range':
      return months === 12 ? null : (
        <Link to="/projects/$name" params={{ name }} search={(view) => ({ ...view, months: 12 })} className="small">
          Look at a whole year
        </Link>
      )
    case 'items':
      return (
        <Link
          to="/projects/$name"
          params={{ name }}
          search={(view) => ({ ...view, explain: 'deployment-frequency', ...(cure.reason && { reason: cure.reason }) })}
          className="small"
        >
          Show them
        </Link>
      )
  }
}

interface RulesProps {
  readonly cure: Cure
  readonly project: string
  readonly places: readonly RulePlace[]
  readonly otherwise: Address
}

/** The scope configs in which the rule can be set; none if nothing is collected. */
function Rules({ cure: { rules = [], name }, project, places, otherwise }: RulesProps) {
  const fitting = places.filter((place) => place.rules.some((rule) => rules.includes(rule)))
  const does = name
    ? `Map ${name}`
    : rules.includes('issueTypeIncident')
      ? 'Say what an incident is'
      : 'Change the rules'
  if (fitting.length === 0)
    return (
      <ButtonTo size="compact-sm" at={otherwise}>
        Change what is collected
      </ButtonTo>
    )
  return (
    <span className="actions">
      {fitting.slice(0, MOST_PLACES).map(({ plugin, title, connectionId, connection, scopeConfigId, scopeConfig }) => (
        <ButtonTo
          key={`${plugin} ${connectionId} ${scopeConfigId}`}
          size="compact-sm"
          maw="100%"
          at={{ path: pathOf`/sources/${plugin}/${connectionId}/rules/${scopeConfigId ?? 'new'}`, search: { project } }}
          title={`${title}, ${connection}: ${scopeConfig ?? 'assumed rules'}`}
        >
          {does}
          {fitting.length > 1 && ` in ${scopeConfig ?? connection}`}
        </ButtonTo>
      ))}
    </span>
  )
}
