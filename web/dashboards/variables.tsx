import { MultiSelect, Select } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { useQueries } from '@tanstack/react-query'
import { useEffect } from 'react'
import { question } from '../api/queries.ts'
import type { DashboardSearch } from './address.ts'
import { ALL, type Definition, type Values, type Variable } from './view.ts'

const searchName = ({ name }: Pick<Variable, 'name'>) => `var-${name}` as const
/** Such a variable needs one value, and only the server knows the possible ones. */
const isRequired = ({ isList, options }: Variable) => !isList && options === null

/** Reads the values of the variables from the address. */
export function valuesOf({ variables }: Pick<Definition, 'variables'>, search: DashboardSearch): Values {
  const entries = variables.flatMap((variable): [string, string | readonly string[]][] => {
    const written = search[searchName(variable)]
    if (written === undefined) return []
    const several = [written].flat().map(String)
    return [[variable.name, variable.isList ? several : (several[0] ?? '')]]
  })
  return Object.fromEntries(entries)
}

/** Also removes the values of later variables, which may depend on this one. */
export function withValue(
  { variables }: Pick<Definition, 'variables'>,
  search: DashboardSearch,
  variable: Variable,
  value: string | readonly string[] | undefined,
): DashboardSearch {
  const later = variables.slice(variables.indexOf(variable) + 1).filter(({ options }) => options === null)
  const changed: Record<string, unknown> = { ...search, [searchName(variable)]: value }
  for (const each of later) delete changed[searchName(each)]
  if (value === undefined) delete changed[searchName(variable)]
  return changed as DashboardSearch
}

/** The project that was viewed last, on any dashboard. */
const useLastProject = () => useLocalStorage<string>({ key: 'weir-project', getInitialValueInEffect: false })

interface Options {
  readonly variable: Variable
  readonly options: readonly { readonly value: string; readonly label: string }[] | undefined
  readonly error: Error | null
}

/** Loads the values to choose from. A variable that needs a value and has none gets one, which is also written into the address. */
export function useVariables(
  definition: Definition | undefined,
  values: Values,
  onDefault: (variable: Variable, value: string) => void,
) {
  const [lastProject, rememberProject] = useLastProject()
  const variables = definition?.variables ?? []
  const answers = useQueries({
    queries: variables.map((variable, place) => {
      const earlier = variables.slice(0, place).filter(isRequired)
      const known = Object.fromEntries(
        Object.entries(values).filter(([name]) => earlier.some((each) => each.name === name)),
      )
      return {
        ...question('GET /v1/dashboards/{dashboard}/variables/{variable}', {
          path: { dashboard: definition?.name ?? '', variable: variable.name },
          query: { values: JSON.stringify(known) },
        }),
        staleTime: 60_000,
        enabled: variable.options === null && earlier.every(({ name }) => values[name] !== undefined),
      }
    }),
  })
  const all: Options[] = variables.map((variable, place) => ({
    variable,
    options: variable.options?.map((value) => ({ value, label: value })) ?? answers[place]?.data?.options,
    error: answers[place]?.error ?? null,
  }))
  const open = all.find(({ variable }) => isRequired(variable) && values[variable.name] === undefined)
  const remembered = open?.variable.name === 'project' ? lastProject : undefined
  const first = open?.options?.find(({ value }) => value === remembered) ?? open?.options?.[0]
  useEffect(() => {
    if (open && first) onDefault(open.variable, first.value)
  })
  const { project } = values
  useEffect(() => {
    if (typeof project === 'string') rememberProject(project)
  }, [project, rememberProject])
  return { all, open }
}

interface VariablesProps {
  readonly all: readonly Options[]
  readonly values: Values
  readonly onChoose: (variable: Variable, value: string | readonly string[] | undefined) => void
}

export const Variables = ({ all, values, onChoose }: VariablesProps) =>
  all.map(({ variable, options = [] }) => {
    const { name, title, isList } = variable
    const chosen = values[name]
    const shared = {
      label: title,
      searchable: options.length > 8,
      size: 'sm',
      w: 156,
      nothingFoundMessage: 'None',
    } as const
    // A value in the address is shown even if it is not among the choices.
    const data = [...options]
    for (const value of [chosen ?? []].flat()) {
      if (value !== ALL && !data.some((each) => each.value === value)) data.push({ value, label: value })
    }
    return isList ? (
      <MultiSelect
        key={name}
        {...shared}
        className="several"
        data={data}
        value={[chosen ?? []].flat().filter((value) => value !== ALL)}
        onChange={(several) => onChoose(variable, several.length === 0 ? undefined : several)}
        placeholder={[chosen ?? []].flat().some((value) => value !== ALL) ? '' : 'All'}
        clearable
      />
    ) : (
      <Select
        key={name}
        {...shared}
        data={data}
        value={typeof chosen === 'string' ? chosen : (variable.options?.[0] ?? null)}
        onChange={(value) => value !== null && onChoose(variable, value)}
        allowDeselect={false}
      />
    )
  })
