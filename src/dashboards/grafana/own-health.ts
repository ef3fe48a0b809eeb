/** The dashboard about Weir itself, for Grafana with the data of `/metrics` in Prometheus. */
import { layOut } from './lay-out.ts'

interface OwnPanel {
  readonly title: string
  readonly says: string
  readonly look: 'stat' | 'timeseries'
  readonly unit: string
  /** PromQL expressions, each with the legend of its lines. */
  readonly asks: readonly (readonly [expression: string, legend: string])[]
  readonly width?: number
  /** The value from which it is yellow, and the value from which it is red. */
  readonly limits?: readonly [number, number]
}
interface OwnSection {
  readonly title: string
  readonly panels: readonly OwnPanel[]
}

const RANGE = '$__rate_interval'
const stat = (
  title: string,
  says: string,
  expression: string,
  unit: string,
  limits?: OwnPanel['limits'],
): OwnPanel => ({
  title,
  says,
  look: 'stat',
  unit,
  asks: [[expression, '']],
  width: 4,
  ...(limits && { limits }),
})
const lines = (title: string, says: string, unit: string, ...asks: OwnPanel['asks']): OwnPanel => ({
  title,
  says,
  look: 'timeseries',
  unit,
  asks,
})

const SECTIONS: readonly OwnSection[] = [
  {
    title: 'Now',
    panels: [
      stat(
        'Causes to stand still',
        'Why the collection stands still, or soon will. Weir itself says what to do.',
        'sum(max by (cause) (weir_attention))',
        'short',
        [1, 2],
      ),
      stat('Servers', 'Servers that live.', 'max(weir_servers{kind="server",state="alive"})', 'short'),
      stat('Workers', 'Workers that live.', 'max(weir_servers{kind="worker",state="alive"})', 'short'),
      stat('Runs that wait', 'Nobody has taken them yet.', 'max(weir_pipelines{state="waiting"})', 'short'),
      stat(
        'Longest wait',
        'How long the oldest run has waited of which no task has begun.',
        'max(weir_queue_oldest_seconds)',
        's',
        [600, 3600],
      ),
      stat(
        'Connections that fail',
        'They failed when they were last used.',
        'count(max by (plugin, connection) (weir_connection_up) == 0) or vector(0)',
        'short',
        [1, 3],
      ),
      stat(
        'Never collected',
        'Projects of which no run has completed.',
        'count(max by (project) (weir_project_created_timestamp_seconds) unless on (project) weir_project_last_success_timestamp_seconds) or vector(0)',
        'short',
        [1, 3],
      ),
      stat(
        'Gaps',
        'Lists that collections did not get whole.',
        'sum(max by (plugin, kind) (weir_gaps)) or vector(0)',
        'short',
        [1, 100],
      ),
      stat(
        'Quarantine',
        'Records that could not be used.',
        'sum(max by (plugin) (weir_quarantined_records)) or vector(0)',
        'short',
        [1, 100],
      ),
      stat('Database', '1: it accepts changes. 0: it does not.', 'min(weir_database_writable)', 'short'),
      stat('Free on the disk', 'Of the data folder that has least.', 'min(weir_disk_free_bytes)', 'bytes'),
      stat(
        'Alerts that ring',
        'Of deploy/prometheus/rules.yaml.',
        'count(ALERTS{alertname=~"Weir.+",alertstate="firing"}) or vector(0)',
        'short',
        [1, 3],
      ),
    ],
  },
  {
    title: 'What makes it stand still',
    panels: [
      lines('Causes', '1: so it is. The panels beside and below show what it is judged by.', 'short', [
        'max by (cause) (weir_attention)',
        '{{cause}}',
      ]),
      lines('Free on the disk', 'Of each data folder.', 'bytes', ['weir_disk_free_bytes', '{{instance}}']),
      lines('A short statement', 'How long the database took for it.', 's', [
        'weir_database_statement_seconds',
        '{{instance}}',
      ]),
      lines('Clock', 'Of each process, less that of the database.', 's', ['weir_clock_offset_seconds', '{{instance}}']),
      lines('Servers and workers', 'Those that live, and those that have gone without a word.', 'short', [
        'max by (kind, state) (weir_servers)',
        '{{kind}} {{state}}',
      ]),
      lines('Quarantine', 'Records that could not be used, by plugin.', 'short', [
        'max by (plugin) (weir_quarantined_records)',
        '{{plugin}}',
      ]),
    ],
  },
  {
    title: 'Runs',
    panels: [
      lines('Pipelines', 'Runs that wait and runs under way.', 'short', [
        'max by (state) (weir_pipelines)',
        '{{state}}',
      ]),
      lines('Tasks that ended', 'Per minute, by plugin and outcome.', 'short', [
        `60 * sum by (plugin, status) (rate(weir_task_duration_seconds_count[${RANGE}]))`,
        '{{plugin}} {{status}}',
      ]),
      lines('Time of a task', 'Nine of ten tasks took at most so long.', 's', [
        `histogram_quantile(0.9, sum by (le, plugin) (rate(weir_task_duration_seconds_bucket[${RANGE}])))`,
        '{{plugin}}',
      ]),
      lines('Rows written', 'Per second, by plugin.', 'short', [
        `sum by (plugin) (rate(weir_rows_written_total[${RANGE}]))`,
        '{{plugin}}',
      ]),
      lines('Time since the last success', 'By project.', 's', [
        'time() - max by (project) (weir_project_last_success_timestamp_seconds)',
        '{{project}}',
      ]),
      lines('Records put aside', 'Per minute, by plugin.', 'short', [
        `60 * sum by (plugin) (rate(weir_records_rejected_total[${RANGE}]))`,
        '{{plugin}}',
      ]),
    ],
  },
  {
    title: 'Sources',
    panels: [
      lines('Requests to sources', 'Per second, by connection and status.', 'reqps', [
        `sum by (connection, status) (rate(weir_source_request_duration_seconds_count[${RANGE}]))`,
        '{{connection}} {{status}}',
      ]),
      lines('Requests left', 'What a source still allowed when it last said so.', 'short', [
        'min by (plugin, connection) (weir_connection_requests_left)',
        '{{plugin}} {{connection}}',
      ]),
    ],
  },
  {
    title: 'Server',
    panels: [
      lines('Requests', 'Per second, by status.', 'reqps', [
        `sum by (status) (rate(weir_http_request_duration_seconds_count[${RANGE}]))`,
        '{{status}}',
      ]),
      lines(
        'Time of an answer',
        'Half, and nineteen of twenty answers took at most so long.',
        's',
        [`histogram_quantile(0.5, sum by (le) (rate(weir_http_request_duration_seconds_bucket[${RANGE}])))`, 'half'],
        [
          `histogram_quantile(0.95, sum by (le) (rate(weir_http_request_duration_seconds_bucket[${RANGE}])))`,
          '19 of 20',
        ],
      ),
      lines('Memory', 'Of each process.', 'bytes', ['process_resident_memory_bytes{job=~".*weir.*"}', '{{instance}}']),
      lines('Event loop', 'How late a process gets to its work.', 's', [
        'nodejs_eventloop_lag_p99_seconds{job=~".*weir.*"}',
        '{{instance}}',
      ]),
      lines('Database connections', 'Open, idle, and those that wait for one.', 'short', [
        'sum by (state) (weir_database_connections)',
        '{{state}}',
      ]),
      lines('Storage', 'What the tables take, by layer.', 'bytes', [
        'max by (layer) (weir_storage_bytes)',
        '{{layer}}',
      ]),
    ],
  },
]

const HEIGHTS = { stat: 4, timeseries: 8 } as const
const INPUT = 'DS_PROMETHEUS'
const TYPE = 'prometheus'

function panelOf({ title, says, look, unit, asks, limits }: OwnPanel, datasource: object): object {
  const [yellow, red] = limits ?? []
  const steps = limits
    ? [
        { color: 'green', value: null },
        { color: 'yellow', value: yellow },
        { color: 'red', value: red },
      ]
    : [{ color: 'text', value: null }]
  return {
    type: look,
    title,
    description: says,
    datasource,
    targets: asks.map(([expr, legendFormat], index) => ({
      refId: String.fromCharCode(65 + index),
      datasource,
      expr,
      legendFormat,
      editorMode: 'code',
      ...(look === 'stat' ? { instant: true } : { range: true }),
    })),
    fieldConfig: { defaults: { unit, noValue: 'no data', thresholds: { mode: 'absolute', steps } }, overrides: [] },
    options:
      look === 'stat'
        ? { reduceOptions: { calcs: ['lastNotNull'] }, colorMode: 'value', graphMode: 'none' }
        : { legend: { displayMode: 'list', placement: 'bottom', showLegend: true }, tooltip: { mode: 'multi' } },
  }
}

/** Without a datasource, the person who imports the dashboard chooses one. */
export function ownHealthTemplate(datasource?: string): object {
  const source = { type: TYPE, uid: datasource ?? `\${${INPUT}}` }
  const asked = {
    __inputs: [
      {
        name: INPUT,
        label: 'Prometheus',
        description: 'Reads /metrics of Weir.',
        type: 'datasource',
        pluginId: TYPE,
        pluginName: 'Prometheus',
      },
    ],
    __requires: [
      { type: 'grafana', id: 'grafana', name: 'Grafana', version: '10.0.0' },
      { type: 'datasource', id: TYPE, name: 'Prometheus', version: '1.0.0' },
    ],
  }
  return {
    ...(datasource === undefined && asked),
    id: null,
    uid: 'weir-own-health',
    title: 'Weir itself',
    tags: ['weir', 'operations'],
    timezone: 'utc',
    description: 'Is Weir well: its queue, its sources, its server and its database.',
    editable: true,
    graphTooltip: 1,
    schemaVersion: 39,
    version: 1,
    refresh: '1m',
    time: { from: 'now-6h', to: 'now' },
    timepicker: {},
    annotations: { list: [] },
    templating: { list: [] },
    panels: layOut(
      SECTIONS,
      ({ look }) => HEIGHTS[look],
      (panel) => panelOf(panel, source),
    ),
  }
}

export const ownHealthText = (datasource?: string): string =>
  `${JSON.stringify(ownHealthTemplate(datasource), null, 2)}\n`
