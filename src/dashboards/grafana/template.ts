/** Makes a Grafana template of a dashboard: JSON that can be imported, or provisioned for a known datasource. */
import {
  ALL,
  type Column,
  type ColumnKind,
  type Dashboard,
  type Look,
  type Panel,
  type Variable,
} from '../dashboard.ts'
import { layOut } from './lay-out.ts'
import { type Engine, statementText } from './text.ts'

/** The newest schema that Grafana 10 supports. Later versions can read it too. */
const SCHEMA_VERSION = 39
const DATASOURCES: Readonly<Record<Engine, { readonly type: string; readonly name: string }>> = {
  postgres: { type: 'grafana-postgresql-datasource', name: 'PostgreSQL' },
  mysql: { type: 'mysql', name: 'MySQL' },
}
const INPUT = 'DS_WEIR'

const UNITS: Readonly<Partial<Record<ColumnKind, string>>> = {
  minutes: 'm',
  seconds: 's',
  share: 'percentunit',
  count: 'short',
  lines: 'short',
  comments: 'short',
  'days per week': 'short',
  bytes: 'bytes',
  moment: 'dateTimeAsLocal',
  day: 'dateTimeAsLocalNoDateIfToday',
}

export interface TemplateTarget {
  readonly engine: Engine
  /** The uid of the datasource. Without it, the person who imports the template chooses one. */
  readonly datasource?: string | undefined
}

export function templateOf(dashboard: Dashboard, { engine, datasource }: TemplateTarget): object {
  const { type, name } = DATASOURCES[engine]
  const source = { type, uid: datasource ?? `\${${INPUT}}` }
  const asked = {
    __inputs: [
      {
        name: INPUT,
        label: 'Weir',
        description: `The database of Weir (${name}).`,
        type: 'datasource',
        pluginId: type,
        pluginName: name,
      },
    ],
    __requires: [
      { type: 'grafana', id: 'grafana', name: 'Grafana', version: '10.0.0' },
      { type: 'datasource', id: type, name, version: '1.0.0' },
    ],
  }
  return {
    ...(datasource === undefined && asked),
    id: null,
    uid: `weir-${dashboard.name}`,
    title: dashboard.title,
    description: dashboard.question,
    tags: ['weir', dashboard.group.toLowerCase()],
    timezone: 'utc',
    weekStart: 'monday',
    editable: true,
    graphTooltip: 1,
    schemaVersion: SCHEMA_VERSION,
    version: 1,
    refresh: '',
    time: { from: 'now-6M', to: 'now' },
    timepicker: {},
    annotations: { list: [] },
    links: [
      {
        type: 'dashboards',
        title: 'Weir',
        tags: ['weir'],
        asDropdown: true,
        includeVars: true,
        keepTime: true,
        targetBlank: false,
      },
    ],
    templating: { list: dashboard.variables.map((variable) => variableOf(variable, engine, source)) },
    panels: layOut(
      dashboard.sections,
      ({ height = HEIGHT }) => height,
      (panel) => panelOf(panel, engine, source),
    ),
  }
}

interface Source {
  readonly type: string
  readonly uid: string
}

function variableOf(variable: Variable, engine: Engine, datasource: Source): object {
  const { name, title, options, isList = false, remedy = '', statement } = variable
  const shared = { name, label: title, description: remedy, hide: 0, skipUrlSync: false, multi: isList }
  if (options || !statement) {
    const all = (options ?? []).map((value, index) => ({ text: value, value, selected: index === 0 }))
    return {
      ...shared,
      type: 'custom',
      query: (options ?? []).join(','),
      options: all,
      current: all[0] ?? {},
      includeAll: false,
    }
  }
  // Grafana shows `__text`, and sends `__value`.
  const query = `select label as __text, value as __value from (${statementText(engine, { statement })}) choices`
  return {
    ...shared,
    type: 'query',
    datasource,
    query,
    definition: query,
    refresh: 2,
    regex: '',
    sort: 1,
    options: [],
    // “All” has a value of its own, because a list of thousands would not fit into a statement, and an empty list would break it.
    ...(isList
      ? { includeAll: true, allValue: `'${ALL}'`, current: { text: ['All'], value: ['$__all'] } }
      : { includeAll: false, current: {} }),
  }
}

const KINDS: Readonly<Record<Look, string>> = {
  number: 'stat',
  lines: 'timeseries',
  bars: 'timeseries',
  ranking: 'barchart',
  table: 'table',
}
const HEIGHT = 9

function panelOf(panel: Panel, engine: Engine, datasource: Source): object {
  const isOverTime = panel.look === 'lines' || panel.look === 'bars'
  return {
    type: KINDS[panel.look],
    title: panel.title,
    description: `${panel.definition}\n\nEmpty? ${panel.remedy}`,
    datasource,
    targets: [
      {
        refId: 'A',
        datasource,
        editorMode: 'code',
        format: isOverTime ? 'time_series' : 'table',
        rawQuery: true,
        rawSql: statementText(engine, panel),
      },
    ],
    fieldConfig: { defaults: defaultsOf(panel), overrides: overridesOf(panel) },
    options: OPTIONS[panel.look](panel),
  }
}

/** Returns the first column that is a measure. */
const measureOf = ({ columns }: Panel): Column | undefined =>
  Object.values(columns).find(({ kind }) => !['text', 'moment', 'day', 'address'].includes(kind))

function defaultsOf(panel: Panel): object {
  const unit = UNITS[measureOf(panel)?.kind ?? 'text']
  const custom = {
    lines: { drawStyle: 'line', lineWidth: 2, fillOpacity: 0, showPoints: 'auto', spanNulls: true },
    bars: { drawStyle: 'bars', fillOpacity: 70, lineWidth: 0, stacking: { mode: 'normal', group: 'A' } },
    ranking: { fillOpacity: 70, lineWidth: 0 },
    table: { align: 'auto', filterable: true },
    number: undefined,
  }[panel.look]
  return {
    ...(unit !== undefined && panel.look !== 'table' && { unit }),
    noValue: 'no data',
    min: panel.look === 'bars' || panel.look === 'ranking' ? 0 : undefined,
    color: {
      mode: panel.limits ? 'thresholds' : panel.look === 'number' ? 'fixed' : 'palette-classic',
      ...(panel.look === 'number' && !panel.limits && { fixedColor: 'text' }),
    },
    thresholds: thresholdsOf(panel),
    ...(custom && { custom }),
  }
}

const GOOD_TO_BAD = ['green', 'yellow', 'orange', 'red']

function thresholdsOf({ limits, better }: Panel): object {
  if (!limits) return { mode: 'absolute', steps: [{ color: 'text', value: null }] }
  const colors = better === 'higher' ? GOOD_TO_BAD.toReversed() : GOOD_TO_BAD
  const steps = limits.map((value, index) => ({ color: colors[index + 1] ?? 'red', value }))
  return { mode: 'absolute', steps: [{ color: colors[0], value: null }, ...steps] }
}

function overridesOf({ columns, look }: Panel): object[] {
  return Object.entries(columns).map(([name, { title, kind, link }]) => {
    const unit = UNITS[kind]
    const isHidden = kind === 'address' || (name === 'counted' && look !== 'table')
    const address = link && { title: 'Open', url: `\${__data.fields.${link}}`, targetBlank: true }
    const properties = [
      ...(name === 'metric' || name === 'time' ? [] : [{ id: 'displayName', value: title }]),
      ...(unit && kind !== 'day' ? [{ id: 'unit', value: unit }] : []),
      ...(kind === 'day' && look === 'table' ? [{ id: 'unit', value: 'time:YYYY-MM-DD' }] : []),
      ...(address ? [{ id: 'links', value: [address] }] : []),
      ...(isHidden ? [hidingOf(look)] : []),
    ]
    return { matcher: { id: 'byName', options: name }, properties }
  })
}

const hidingOf = (look: Look): object =>
  look === 'table'
    ? { id: 'custom.hidden', value: true }
    : { id: 'custom.hideFrom', value: { legend: true, tooltip: false, viz: true } }

/** Returns the column with words, if there is one, because the number alone may be misleading. */
const shownOf = ({ words, ...columns }: Panel['columns']): Column | undefined => words ?? Object.values(columns)[0]

const OPTIONS: Readonly<Record<Look, (panel: Panel) => object>> = {
  number: ({ columns }) => ({
    reduceOptions: { calcs: ['lastNotNull'], fields: `/^${shownOf(columns)?.title}$/`, values: false },
    colorMode: 'value',
    graphMode: 'none',
    textMode: 'value',
    justifyMode: 'auto',
  }),
  lines: () => ({ legend: { displayMode: 'list', placement: 'bottom', showLegend: true }, tooltip: { mode: 'multi' } }),
  bars: () => ({ legend: { displayMode: 'list', placement: 'bottom', showLegend: true }, tooltip: { mode: 'multi' } }),
  ranking: ({ columns }) => ({
    xField: Object.values(columns)[0]?.title,
    orientation: 'horizontal',
    showValue: 'auto',
    legend: { displayMode: 'list', placement: 'bottom', showLegend: false },
  }),
  table: () => ({ showHeader: true, cellHeight: 'sm', footer: { show: false } }),
}

/** Returns the text of the template file. */
export const templateText = (dashboard: Dashboard, target: TemplateTarget): string =>
  `${JSON.stringify(templateOf(dashboard, target), null, 2)}\n`
