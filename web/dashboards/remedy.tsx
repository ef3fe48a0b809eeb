import { Button } from '@mantine/core'
import { useMay } from '../frame/sign-in.tsx'
import { type Address, ButtonTo, pathOf } from '../parts/anywhere.tsx'
import { type Panel, projectOf, useView, type Values, type Variable } from './view.ts'

interface Way {
  readonly words: string
  readonly at: Address
}

/** Returns the page where the user can do something about missing data. */
function wayOf(group: string, project: string | undefined): Way {
  if (group === 'Sources') return { words: 'Show sources', at: { path: '/sources' } }
  if (group === 'Operation') return { words: 'Show runs', at: { path: '/runs' } }
  if (project === undefined) return { words: 'Show projects', at: { path: '/projects' } }
  return { words: 'Change what is collected', at: { path: pathOf`/projects/${project}`, search: { tab: 'blueprint' } } }
}

/** Shown in an empty panel: a possible reason, and a link to the place where it can be fixed. */
export function Nothing({ panel }: { readonly panel: Panel }) {
  const { definition, values, own } = useView()
  const way = wayOf(definition.group, projectOf(values))
  return (
    <div className="nothing">
      <p className="quiet">{panel.remedy}</p>
      {own && panel.metric && projectOf(values) !== undefined ? (
        <Button variant="default" size="compact-sm" onClick={() => own.onExplain(panel.metric ?? '')}>
          Why is there nothing?
        </Button>
      ) : (
        own && (
          <ButtonTo size="compact-sm" at={way.at}>
            {way.words}
          </ButtonTo>
        )
      )}
    </div>
  )
}

/** Shown if a variable has no values to choose from. */
export function NoValues({ variable, values }: { readonly variable: Variable; readonly values: Values }) {
  const isAdmin = useMay('admin')
  const way: Way =
    variable.name === 'project'
      ? { words: isAdmin ? 'Start with a project' : 'Show projects', at: { path: isAdmin ? '/start' : '/projects' } }
      : variable.name === 'team'
        ? { words: 'Import people and teams', at: { path: '/settings/people' } }
        : wayOf('', projectOf(values))
  return (
    <section className="empty">
      <h2>No {variable.title.toLowerCase()} to choose yet</h2>
      <p>{variable.remedy ?? 'This dashboard has no data to show.'}</p>
      <ButtonTo at={way.at}>{way.words}</ButtonTo>
    </section>
  )
}

interface MissingFieldProps {
  readonly field: { readonly name: string; readonly title: string; readonly table: string }
}

/** Shown if a dashboard reads a field that nobody has added yet: what that means, and how to add and fill it. */
export function MissingField({ field: { name, title, table } }: MissingFieldProps) {
  const isAdmin = useMay('admin')
  return (
    <div className="notice" role="status">
      <span>
        <b>No table has the field {name} yet</b>, so nothing tells the {title.toLowerCase()} of what is counted here:
        all of it counts, and there is none to choose.{' '}
        {isAdmin ? 'Add it, and say which field of your tool fills it.' : 'Ask an admin to add it.'}
      </span>
      {isAdmin && <ButtonTo at={{ path: '/data/fields/map', search: { table, name } }}>Add the field</ButtonTo>}
    </div>
  )
}
