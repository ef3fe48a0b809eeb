/** Reports of a long-running process about itself: measures for Prometheus, and the lines of its runs in its log. */
import packageFile from '../../package.json' with { type: 'json' }
import type { ControlPlane } from '../control-plane/control-plane.ts'
import { createStandstill, type Standstill } from '../runner/standstill/standstill.ts'
import type { Thresholds } from '../runner/standstill/thresholds.ts'
import { stopTracing } from '../telemetry/events/tracing.ts'
import { followWork } from '../telemetry/events/work-events.ts'
import { createMeasures, type Measures } from '../telemetry/prometheus/measures.ts'
import { serveMeasures } from '../telemetry/prometheus/serve.ts'
import type { Runtime } from './runtime.ts'

interface Watching {
  readonly measures: Measures
  /** Must be started after this process has joined the others; before that, a look would miss it. */
  readonly standstill: Standstill
  stop(): Promise<void>
}

export async function startWatching(
  { config, log }: Pick<Runtime, 'config' | 'log'>,
  control: ControlPlane,
  thresholds: Partial<Thresholds> = {},
): Promise<Watching> {
  const standstill = createStandstill(control.context, { needsWorkers: config.runTasksOn === 'workers', thresholds })
  const measures = createMeasures({ ...control.context, version: packageFile.version, standstill })
  const quiet = followWork((event) => {
    if (event.kind !== 'line') return
    const { kind: _, line, isWarning, ...place } = event
    if (isWarning) log.warn(place, line)
    else log.info(place, line)
  })
  const { host, metricsPort } = config
  const server = metricsPort === undefined ? undefined : await serveMeasures(measures, host, metricsPort, log)
  return {
    measures,
    standstill,
    async stop() {
      quiet()
      measures.close()
      await standstill.stop()
      await server?.stop()
      await stopTracing()
    },
  }
}
