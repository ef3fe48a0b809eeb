import { Button, Checkbox, Menu, Select, Switch } from '@mantine/core'
import { Icon } from '../frame/icon.tsx'
import { type DashboardSearch, MARKS, type Mark, REFRESHES, type Refresh } from './address.ts'
import { DEFAULT_RANGE, RangePicker } from './range-picker.tsx'
import { type useVariables, Variables, withValue } from './variables.tsx'
import type { Definition, Period, Values } from './view.ts'

export const rangeOf = ({ from = DEFAULT_RANGE.from, to = DEFAULT_RANGE.to }: DashboardSearch): Period => ({ from, to })

export const marksOf = ({ marks }: DashboardSearch): readonly Mark[] =>
  marks === undefined ? MARKS : MARKS.filter((each) => marks.split(',').includes(each))

/** Leaves out the default, which shows all annotations. */
const marksText = (marks: readonly Mark[]): Pick<DashboardSearch, 'marks'> =>
  marks.length === MARKS.length ? {} : { marks: marks.join(',') || 'none' }

const MARK_TITLES: Readonly<Record<Mark, string>> = {
  deployment: 'Deployments (ticks)',
  incident: 'Incidents (red dots)',
  switch: 'Traffic switches (diamonds)',
  change: 'Counted differently (triangles)',
}
const REFRESH_TITLES: Readonly<Record<Refresh, string>> = {
  '1m': 'Every minute',
  '5m': 'Every 5 min',
  '15m': 'Every 15 min',
}

const AGAIN = 'M16 10a6 6 0 1 1-1.8-4.3L16 7.5M16 3.5v4h-4'

interface ToolbarProps {
  readonly definition: Definition
  readonly variables: ReturnType<typeof useVariables>['all']
  readonly values: Values
  readonly search: DashboardSearch
  readonly onSearch: (change: (before: DashboardSearch) => DashboardSearch) => void
  readonly onRefresh: () => void
}

export function Toolbar({ definition, variables, values, search, onSearch, onRefresh }: ToolbarProps) {
  const marks = marksOf(search)
  const hasProject = definition.variables.some(({ name }) => name === 'project')
  return (
    <section className="toolbar" aria-label="What is shown">
      <Variables
        all={variables}
        values={values}
        onChoose={(variable, value) => onSearch((before) => withValue(definition, before, variable, value))}
      />
      <RangePicker
        range={rangeOf(search)}
        moments={definition.range}
        onChoose={({ from, to }) => onSearch((before) => ({ ...before, from, to }))}
      />
      <Switch
        label="Compare"
        title="With the period before"
        checked={search.compare === true}
        onChange={({ currentTarget: { checked } }) =>
          onSearch(({ compare: _, ...before }) => ({ ...before, ...(checked && { compare: true as const }) }))
        }
      />
      <div className="tools">
        {hasProject && (
          <Menu closeOnItemClick={false} position="bottom-end" shadow="md">
            <Menu.Target>
              <Button variant="default">{marks.length === 0 ? 'No marks' : 'Marks'}</Button>
            </Menu.Target>
            <Menu.Dropdown>
              <div style={{ display: 'grid', gap: 10, padding: 8 }}>
                {MARKS.map((mark) => (
                  <Checkbox
                    key={mark}
                    label={MARK_TITLES[mark]}
                    checked={marks.includes(mark)}
                    onChange={({ currentTarget: { checked } }) =>
                      onSearch(({ marks: _, ...before }) => ({
                        ...before,
                        ...marksText(MARKS.filter((each) => (each === mark ? checked : marks.includes(each)))),
                      }))
                    }
                  />
                ))}
              </div>
            </Menu.Dropdown>
          </Menu>
        )}
        <Select
          aria-label="Refresh automatically"
          w={132}
          data={[
            { value: 'off', label: 'No refresh' },
            ...REFRESHES.map((value) => ({ value, label: REFRESH_TITLES[value] })),
          ]}
          value={search.refresh ?? 'off'}
          onChange={(value) =>
            onSearch(({ refresh: _, ...before }) => ({
              ...before,
              ...(value && value !== 'off' && { refresh: value as Refresh }),
            }))
          }
          allowDeselect={false}
        />
        <Button variant="default" px={10} onClick={onRefresh} aria-label="Refresh now" title="Refresh now">
          <Icon path={AGAIN} />
        </Button>
      </div>
    </section>
  )
}
