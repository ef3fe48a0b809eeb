import { describe, expect, it } from 'vitest'
import { findViolations } from './import-rules.ts'

const check = (path: string, text: string) => findViolations([{ path, text }])

describe('import rules', () => {
  it.each([
    ['src/database/write.ts', "import { issues } from '../domain/ticket.ts'", 'may not import src/domain/ticket'],
    ['src/domain/ticket.ts', "import { write } from '../database/write.ts'", 'may not import src/database/write'],
    ['src/domain/ticket.ts', "import type { Write } from '../database/write.ts'", 'may not import src/database/write'],
    [
      'src/plugin-kit/spec/entity.ts',
      "import jira from '../../plugins/jira/plugin.ts'",
      'may not import src/plugins/jira/plugin',
    ],
    [
      'src/plugins/jira/plugin.ts',
      "import { repos } from '../github/plugin.ts'",
      'may not import src/plugins/github/plugin',
    ],
    ['src/plugins/jira/entities/a.ts', "export * from '../../index.ts'", 'may not import src/plugins/index'],
    [
      'src/plugins/jira/plugin.ts',
      "import { write } from '../../database/write.ts'",
      'may not import src/database/write',
    ],
    [
      'src/metrics/lead-time.ts',
      "import {\n  entity,\n} from '../plugin-kit/spec/entity.ts'",
      'may not import src/plugin-kit/spec/entity',
    ],
    ['src/dashboards/dora.ts', "import { open } from '../database/open.ts'", 'may not import src/database/open'],
    [
      'src/traffic/apply.ts',
      "import { projects } from '../control-plane/projects/projects.ts'",
      'may not import src/control-plane/projects/projects',
    ],
    ['src/traffic/apply.ts', "const a = await import('../api/server.ts')", 'may not import src/api/server'],
    [
      'src/control-plane/blueprints/blueprints.ts',
      "import type { Lease } from '../../runner/leases.ts'",
      'may not import src/runner/leases',
    ],
    [
      'src/control-plane/blueprints/blueprints.ts',
      "import { adopt } from '../../config-as-code/adopt.ts'",
      'may not import src/config-as-code/adopt',
    ],
    ['src/runner/runner.ts', "import { server } from '../api/server.ts'", 'may not import src/api/server'],
    [
      'src/config-as-code/document.ts',
      "import { repeat } from '../runner/repeat.ts'",
      'may not import src/runner/repeat',
    ],
    ['src/mcp/tools.ts', "import { server } from '../api/server.ts'", 'may not import src/api/server'],
    ['src/alerts/send.ts', "import { server } from '../api/server.ts'", 'may not import src/api/server'],
    [
      'src/api/routes/issues.ts',
      "import { jira } from '../../plugins/jira/plugin.ts'",
      'may not import src/plugins/jira/plugin',
    ],
    ['src/api/server.ts', "import { up } from '../cli/up.ts'", 'may not import src/cli/up'],
    ['src/config/config.ts', "import { log } from '../log.ts'", 'may not import src/log'],
    ['src/api/server.ts', "import { App } from '../../web/app.tsx'", 'may not import web/app'],
    [
      'src/api/server.ts',
      "import { start } from '../../tests/support/servers.ts'",
      'may not import tests/support/servers',
    ],
    ['web/app.tsx', "import { createServer } from '../src/api/server.ts'", 'may not import src/api/server'],
    ['web/app.tsx', "import { Contract } from '../src/api/contract.ts'", 'as types only'],
    ['src/api/server.ts', "import pg from 'pg'", 'pg belongs to src/database'],
    ['src/metrics/keys.ts', "import mysql from 'mysql2/promise'", 'mysql2 belongs to src/database'],
    ['src/plugins/jira/plugin.ts', "import { request } from 'undici'", 'undici belongs to src/plugin-kit/http'],
    ['src/traffic/apply.ts', '\nconst answer = await fetch(url)', 'src/traffic/apply.ts:2: fetch belongs to'],
    ['src/metrics/keys.ts', "if (dialect.name === 'postgres') run()", 'src/metrics/keys.ts:1: engines are named'],
    ['src/main.ts', '// MySQL needs this', 'src/main.ts:1: engines are named'],
    ['src/loose.ts', '', 'src/loose.ts: belongs into a room of src'],
    ['src/telemetry/events/span.ts', "import { pages } from '../prometheus/serve.ts'", 'may not import'],
    [
      'src/runner/queue.ts',
      "import { rotateKey } from '../secrets/rotate-key.ts'",
      'may not import src/secrets/rotate',
    ],
    ['src/plugins/jira/fake-jira.ts', '', 'src/plugins/jira/fake-jira.ts: a fake stands in tests/fake-NAME/'],
    ['tests/jira/fake-jira.ts', '', 'tests/jira/fake-jira.ts: a fake stands in tests/fake-NAME/'],
  ])('refuse %s: %s', (path, text, reason) => {
    expect(check(path, text).join('\n')).toContain(reason)
  })

  it.each([
    ['src/database/open.ts', "import pg from 'pg'\nimport { UserError } from '../errors.ts'"],
    ['src/domain/ticket.ts', "import { string } from '../database/table.ts'"],
    [
      'src/plugins/github/entities/a.ts',
      "import { kit } from '../kit.ts'\nimport { ids } from '../../../domain/ids.ts'",
    ],
    ['src/plugins/index.ts', "import jira from './jira/plugin.ts'"],
    ['src/plugin-kit/http/client.ts', "import { request } from 'undici'"],
    ['src/runner/runner.ts', "import { states } from '../control-plane/runs/states.ts'"],
    ['src/api/server.ts', "import { runPipeline } from '../runner/run.ts'\nawait api.fetch(url)"],
    ['src/metrics/keys.test.ts', "import { start } from '../../tests/support/servers.ts' // postgres"],
    ['web/app.tsx', "import type { Contract } from '../src/api/contract.ts'\nawait fetch('/ping')"],
    ['tests/fake-jira/fake-jira.ts', ''],
    ['tests/support/fake-source.ts', ''],
  ])('allow %s: %s', (path, text) => {
    expect(check(path, text)).toEqual([])
  })

  it('refuse a circle of files, types included, and say all of it', () => {
    const files = [
      { path: 'src/traffic/switch.ts', text: "import { gate } from './gate.ts'" },
      { path: 'src/traffic/gate.ts', text: "import type { Step } from './step.ts'\nimport { plan } from './plan.ts'" },
      { path: 'src/traffic/step.ts', text: "export { change } from './switch.ts'" },
      { path: 'src/traffic/plan.ts', text: "import { parse } from '../basics/yaml.ts'" },
    ]
    expect(findViolations(files)).toEqual([
      'src/traffic/switch.ts: imports itself in a circle: src/traffic/switch.ts → src/traffic/gate.ts → src/traffic/step.ts → src/traffic/switch.ts',
    ])
    expect(findViolations(files.slice(0, 2))).toEqual([])
  })

  it.each([
    ['src/plugin-kit/spec/entity.ts', '../task/source-task.ts', 'may not import src/plugin-kit/task/source-task'],
    ['src/plugin-kit/http/pages.ts', '../spec/collect.ts', 'may not import src/plugin-kit/spec/collect'],
    ['src/plugin-kit/transform/extract.ts', '../define/order.ts', 'may not import src/plugin-kit/define/order'],
    ['src/plugin-kit/raw/gaps.ts', '../collect/collect.ts', 'may not import src/plugin-kit/collect/collect'],
  ])('refuse an arrow up between rooms of the kit: %s imports %s', (path, target, reason) => {
    expect(check(path, `import type { Thing } from '${target}'`).join('\n')).toContain(reason)
  })

  it.each([
    ['src/plugin-kit/collect/collect.ts', '../transform/extract.ts'],
    ['src/plugin-kit/define/define-plugin.ts', '../push/receive.ts'],
    ['src/plugin-kit/index.ts', './define/define-plugin.ts'],
  ])('allow an arrow down between rooms of the kit: %s imports %s', (path, target) => {
    expect(check(path, `import { thing } from '${target}'`)).toEqual([])
  })
})
