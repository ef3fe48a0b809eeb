/** Values that the chart refuses, and its messages. */
import { beforeAll, describe, expect, it } from 'vitest'
import { BUILD_LIMIT_MS, ensureHelm, missing, render } from './support/helm.ts'

describe.skipIf(missing)(`wrong values${missing ? ` (skipped: ${missing})` : ''}`, () => {
  beforeAll(ensureHelm, BUILD_LIMIT_MS)

  const given = (...settings: string[]) => settings.flatMap((setting) => ['--set', setting])
  const ENOUGH = given('secrets.encryptionSecret=0123456789abcdef', 'database.url=postgres://weir@db/lake')
  it.each([
    [[], /secrets\.encryptionSecret is empty: set it and keep a copy, or name secrets\.existingSecret/],
    [given('secrets.encryptionSecret=0123456789abcdef'), /There is no database: set database\.url/],
    [[...ENOUGH, ...given('server.replicas=2')], /one node only: set persistence\.accessMode to ReadWriteMany/],
    [
      [...ENOUGH, ...given('server.replicas=2', 'persistence.enabled=false')],
      /a token of its own: set secrets\.authToken/,
    ],
    [
      [...ENOUGH, ...given('server.settings.METRICS_PORT=9000')],
      /METRICS_PORT is no setting .*: set metrics\.port instead/,
    ],
    [[...ENOUGH, ...given('settings.AUTH=none')], /AUTH is no setting .*: set auth instead/],
    [[...ENOUGH, ...given('metrics.port=8080')], /metrics.*port/s],
    [
      [...ENOUGH, ...given('workers.enabled=true', 'workers.autoscaling.enabled=true', 'workers.autoscaling.by=queue')],
      /set workers\.autoscaling\.queue\.prometheus to the address/,
    ],
    [[...ENOUGH, ...given('workers.autoscaling.minReplicas=0')], /minReplicas/],
    [
      [...ENOUGH, ...given('metrics.prometheusRule.enabled=true', 'metrics.prometheusRule.leaveOut={WeirTired}')],
      /leaveOut names WeirTired, and there is no such alert\. There are: WeirAbsent/,
    ],
    [[...ENOUGH, ...given('backup.enabled=true', 'backup.to=s3://b/w')], /name a secret with AWS_ACCESS_KEY_ID/],
    [[...ENOUGH, ...given('backup.enabled=true', 'backup.to=/srv/backups')], /backup.*to.*pattern/s],
    [[...ENOUGH, ...given('backup.enabled=true', 'backup.schedule=nightly')], /backup.*schedule.*pattern/s],
    [
      [...ENOUGH, ...given('restore.from=/backups/a.backup')],
      /set backup\.enabled to true, and leave backup\.to empty/,
    ],
    [
      [...ENOUGH, ...given('certificateAuthorities.secret=a', 'certificateAuthorities.configMap=b')],
      /certificateAuthorities names a config map and a secret: name one of them/,
    ],
    [[...ENOUGH, ...given('ingress.enabled=true')], /ingress\.hosts is empty/],
    [[...ENOUGH, ...given('sever.replicas=2')], /sever.*not allowed/s],
    [[...ENOUGH, ...given('auth=password')], /auth.*must be one of/s],
    [[...ENOUGH, ...given('database.url=oracle://db')], /database.*url.*pattern/s],
  ])('refuses %j with a sentence', (parameters, sentence) => {
    expect(() => render(parameters)).toThrow(sentence)
  })
})
