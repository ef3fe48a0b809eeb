/** The settings of Weir, which are environment variables. docs/configuration.md is generated from this list. */
import { join } from 'node:path'
import { z } from 'zod'
import { duration, EVERYTHING, flag, groupRoles, isNetwork, list, roleTokens, whole } from './config-values.ts'

const programFolder = join(import.meta.dirname, '../..')
/** npm replaces the folder of an installed package at each update, so data must not be stored there. */
const isPackage = /[\\/]node_modules[\\/]/.test(programFolder)

/** The name of the variable, how its text is parsed, its meaning, and its default in words if the value does not tell it. */
export type Setting = readonly [name: string, schema: z.ZodType, meaning: string, defaultInWords?: string]
export type Settings = Readonly<Record<string, Setting>>

const server = {
  databaseUrl: [
    'DB_URL',
    z.string().optional(),
    'The database: `postgres://user:password@host:5432/lake` or `mysql://user:password@host:3306/lake`. PostgreSQL 13, MySQL 8, MariaDB 10.11, or newer. MySQL takes rows faster with `local_infile=ON`, which MariaDB has by default.',
    'the embedded PostgreSQL 18',
  ],
  dataFolder: [
    'DATA_FOLDER',
    z.string().default(join(isPackage ? process.cwd() : programFolder, '.weir')),
    'The folder of the embedded database, the logs and the generated keys.',
    '`.weir` in the folder of the clone; if Weir is installed as a package, in the current folder',
  ],
  host: [
    'HOST',
    z.string().default('127.0.0.1'),
    'The address to listen on. If other machines can reach it, `AUTH` must be set.',
  ],
  publicUrl: [
    'PUBLIC_URL',
    z.url({ protocol: /^https?$/ }).optional(),
    'The address that people open Weir by, such as `https://weir.example.com`. Links in messages of alerts begin with it.',
    'the host of the OpenID redirect address, or `http://HOST:PORT`',
  ],
  port: ['PORT', whole(0, 65_535).default(8080), 'The port to listen on. 0 takes any free port.'],
  requestsPerMinute: [
    'REQUESTS_PER_MINUTE',
    whole(0).default(6000),
    'The most requests in a minute of each user, token or API key; without one, from one address. It applies when `AUTH` is set. 0: no limit.',
  ],
  headerTimeoutMs: [
    'HEADER_TIMEOUT',
    duration.default(10_000),
    'A client must send the headers of its request within this time. Otherwise the answer is 408 and the connection is closed.',
  ],
  requestTimeoutMs: [
    'REQUEST_TIMEOUT',
    duration.default(60_000),
    'A client must send its whole request within this time. Otherwise the answer is 408.',
  ],
  keepAliveTimeoutMs: [
    'KEEP_ALIVE_TIMEOUT',
    duration.default(72_000),
    'How long an idle connection stays open for the next request.',
  ],
  mostConnections: [
    'MAX_CONNECTIONS',
    whole(1).default(1000),
    'The most open connections. From four fifths of them on, a new one closes one that is idle or whose client does not read; others are closed at once.',
  ],
  mostUnusedConnections: [
    'MAX_UNUSED_CONNECTIONS',
    whole(1).default(100),
    'The most connections from one address on which no whole request has arrived yet. A new one closes the oldest of them.',
  ],
  mostEventStreams: [
    'MAX_EVENT_STREAMS',
    whole(0).default(200),
    'The most open streams of events and logs. Others get 503.',
  ],
} satisfies Settings

const access = {
  auth: [
    'AUTH',
    z.enum(['none', 'token', 'oidc']).optional(),
    'How people and programs sign in. `token`: with an access token. `oidc`: with an OpenID provider. `none`: no sign-in; everybody may do everything, from any machine. Unset: no sign-in, and only this machine has access.',
  ],
  authToken: [
    'AUTH_TOKEN',
    z
      .string()
      .regex(/^\S{16,}$/, 'must have at least 16 characters and no blanks')
      .optional(),
    'The access token of an admin with `AUTH=token`. Clients send it as `Authorization: Bearer TOKEN`.',
    'generated at the first start, stored in `DATA_FOLDER/access-token`',
  ],
  authTokens: [
    'AUTH_TOKENS',
    roleTokens.default([]),
    'More access tokens, each with its [roles](access.md#roles): `NAME:ROLES:TOKEN,…`, for example `ci:operator@shop:…`.',
  ],
  authEnabled: [
    'AUTH_ENABLED',
    flag.default(false),
    "DevLake's name for `AUTH`. `true` means `AUTH=oidc` if `OIDC_ENABLED` is true, otherwise `AUTH=token`.",
  ],
  oidcEnabled: ['OIDC_ENABLED', flag.default(false), "DevLake's name; see `AUTH_ENABLED`."],
  oidcProviders: [
    'OIDC_PROVIDERS',
    list.default([]),
    'The names of your OpenID providers, separated by commas. Each has [settings of its own](#openid-providers).',
  ],
  oidcLogoutRedirect: [
    'OIDC_LOGOUT_REDIRECT',
    flag.default(false),
    '`true`: signing out of Weir also opens the sign-out page of the provider.',
  ],
  sessionSecret: [
    'SESSION_SECRET',
    z.string().min(32, 'must have at least 32 characters').optional(),
    'The key that signs session cookies. At least 32 characters.',
    'derived from the encryption key',
  ],
  sessionTtlMs: ['SESSION_TTL', duration.default(8 * 3_600_000), 'How long a session lasts.'],
  cookieSecure: [
    'COOKIE_SECURE',
    flag.default(true),
    'Browsers send the cookies only over HTTPS. Set `false` only if you have no TLS.',
  ],
  cookieDomain: ['COOKIE_DOMAIN', z.string().optional(), 'The domain of the cookies.', 'the host of the request'],
  trustedProxies: [
    'TRUSTED_PROXIES',
    list
      .refine((entries) => entries.every(isNetwork), 'must be addresses or networks such as 10.0.0.7,10.1.0.0/16')
      .default([]),
    'Proxies, as addresses or networks (`10.0.0.7,10.1.0.0/16`). Weir trusts their headers `X-Forwarded-For`, `-Proto` and `-Host`. These headers say where a request comes from, never who sends it.',
  ],
  proxyIdentitySecret: [
    'PROXY_IDENTITY_SECRET',
    z
      .string()
      .regex(/^[\x21-\x7e]{32,}$/, 'must have at least 32 characters and no blanks')
      .optional(),
    'For a proxy that signs people in. The proxy proves itself with this secret in the header `X-Weir-Proxy-Secret`, and names the person in `X-Forwarded-User`, `-Email` and `-Groups`. At least 32 characters.',
  ],
  proxyIdentityRoles: [
    'PROXY_IDENTITY_ROLES',
    groupRoles.default(EVERYTHING),
    'The [roles](access.md#roles) of the groups that this proxy sends.',
    '`*=admin`',
  ],
  allowedHosts: [
    'ALLOWED_HOSTS',
    list.default([]),
    'With `AUTH=none`: host names that clients may use. IP addresses, `localhost` and names without a dot always work.',
  ],
} satisfies Settings

const secrets = {
  encryptionSecret: [
    'ENCRYPTION_SECRET',
    z.string().min(16, 'must have at least 16 characters').optional(),
    'Encrypts the stored secrets. At least 16 characters. [Keep a copy of it.](operations.md#the-encryption-key)',
    'generated at the first start, stored in `DATA_FOLDER/encryption-key`',
  ],
  newEncryptionSecret: [
    'NEW_ENCRYPTION_SECRET',
    z.string().min(16, 'must have at least 16 characters').optional(),
    'The next `ENCRYPTION_SECRET`. Only `npx weir secrets rotate` reads it.',
  ],
  oldEncryptionSecret: [
    'OLD_ENCRYPTION_SECRET',
    z.string().min(16, 'must have at least 16 characters').optional(),
    'The `ENCRYPTION_SECRET` that a backup was made with, if it is another now. Only `npx weir restore` and rehearsals of backups read it.',
  ],
  endpointBlocked: [
    'ENDPOINT_CIDR_BLACKLIST',
    list.default([]),
    'Networks that Weir must not connect to, such as `10.0.0.0/8`: for endpoints, proxies, git, notifications, alerts and sign-in providers. Link-local and metadata addresses are always blocked.',
  ],
  endpointAllowed: ['ENDPOINT_CIDR_ALLOWED', list.default([]), 'Exceptions: networks that Weir may connect to anyway.'],
} satisfies Settings

const collecting = {
  pipelineMaxParallel: [
    'PIPELINE_MAX_PARALLEL',
    whole(0).optional(),
    'The most pipelines that run at the same time, over all servers of the database. 0: no limit.',
    '1; with `RUN_TASKS_ON=workers` no limit',
  ],
  runTasksOn: [
    'RUN_TASKS_ON',
    z.enum(['server', 'workers'], 'must be server or workers').default('server'),
    '`server`: servers run tasks themselves. `workers`: servers run none, and [workers](operations.md#beyond-one-machine) take them from the database of `DB_URL`.',
  ],
  drainSeconds: [
    'DRAIN_SECONDS',
    whole(0).default(20),
    'How long a worker that stops waits for its tasks. Then other workers continue them.',
  ],
  resumePipelines: ['RESUME_PIPELINES', flag.default(true), 'Continue pipelines that a crash interrupted.'],
  consumePipelines: [
    'CONSUME_PIPELINES',
    flag.default(true),
    'Run pipelines on this server. `false`: only other servers of the same database run them.',
  ],
  calculationDelayMs: [
    'CALCULATION_DELAY',
    duration.default(20_000),
    'How long Weir waits after something was sent to a [webhook](rest-api.md#webhooks) before it calculates the projects that have it. What is sent meanwhile is calculated together.',
  ],
  subtaskDefaults: [
    'ENABLE_SUBTASKS_BY_DEFAULT',
    list
      .refine(
        (entries) => entries.every((entry) => /^[^:]+:.+:(true|false)$/.test(entry)),
        'must look like jira:collectIssues:true,…',
      )
      .default([]),
    'Switches subtasks on (`true`) or off (`false`) for tasks that do not list their subtasks: `plugin:subtask:true,…`.',
  ],
  apiTimeoutMs: ['API_TIMEOUT', duration.default(120_000), 'How long a request to a source may take.'],
  apiRetry: ['API_RETRY', whole(0).default(3), 'How often a request that failed is tried again.'],
  apiRequestsPerHour: [
    'API_REQUESTS_PER_HOUR',
    whole(1).optional(),
    'The most requests per hour, for connections without a limit of their own to sources that do not report a limit. `Retry-After` is always obeyed.',
  ],
  trustsAnyCertificate: [
    'IN_SECURE_SKIP_VERIFY',
    flag.default(false),
    '`true`: trust any certificate of sources and git servers. It is safer to name your own certificate authority in `NODE_EXTRA_CA_CERTS`.',
  ],
  hidesTestFailures: [
    'WRAP_RESPONSE_ERROR',
    flag.default(false),
    '`true`: connection tests over REST do not say why they failed. `npx weir doctor` always does.',
  ],
  skipCommitStat: [
    'SKIP_COMMIT_STAT',
    flag.default(false),
    '`true`: collect the git history without line counts. This is much faster.',
  ],
  skipCommitFiles: [
    'SKIP_COMMIT_FILES',
    flag.default(true),
    '`false` stores one row for each file that a commit changed.',
  ],
  gitAllowLocal: ['GIT_ALLOW_LOCAL', flag.default(false), 'Allow git repositories in folders of this machine.'],
  githubExcludedLogins: [
    'GITHUB_PR_EXCLUDELIST',
    z.string().default(''),
    'GitHub logins separated by commas. Their pull requests, comments and reviews are left out. A change needs a full sync.',
    '–',
  ],
  cherryPickTitle: [
    'GITHUB_PR_TITLE_PATTERN',
    z.string().optional(),
    'For the plugin `refdiff`: a pattern that finds the number of the original pull request in the title of a cherry-pick.',
  ],
  jiraFullRefresh: [
    'JIRA_JQL_AUTO_FULL_REFRESH',
    flag.default(false),
    'When the filter of a Jira board changes, collect the board from the start. `false`: the task fails and asks for a full sync.',
  ],
  pushApiAllowedTables: [
    'PUSH_API_ALLOWED_TABLES',
    list.default([]),
    'The tables that `POST /push/:table` accepts, separated by commas.',
    'all tables',
  ],
} satisfies Settings

const logs = {
  notificationEndpoint: [
    'NOTIFICATION_ENDPOINT',
    z.url().optional(),
    'The address that gets a message when a pipeline is created, starts and ends. [What is sent.](operations.md#notifications)',
  ],
  notificationSecret: ['NOTIFICATION_SECRET', z.string().optional(), 'Signs these messages.'],
  logRetentionDays: [
    'LOG_RETENTION_DAYS',
    whole(0).default(90),
    'Weir deletes the logs of pipelines that ended more than this many days ago. 0: never.',
  ],
  rawRetentionDays: [
    'RAW_RETENTION_DAYS',
    whole(0).default(0),
    'Payloads of raw records that were extracted are emptied after this many days. 0: never. [What this means.](operations.md#retention)',
  ],
  runRetentionDays: [
    'RUN_RETENTION_DAYS',
    whole(0).default(0),
    'Runs, notifications and messages of alerts are deleted after this many days, but for the last runs of each blueprint. 0: never.',
  ],
  logLevel: [
    'LOGGING_LEVEL',
    z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
    '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`.',
  ],
  logFormat: [
    'LOG_FORMAT',
    z.enum(['json', 'text']).default('json'),
    '`json`: one object per line, with the ids of requests, runs and tasks. `text`: for people who read it.',
  ],
  logFile: [
    'LOGGING_FILE',
    z.string().optional(),
    'The log is appended to this file. `stderr`: standard error.',
    'standard error; in a terminal `DATA_FOLDER/logs/weir.log`',
  ],
  metricsPort: [
    'METRICS_PORT',
    whole(1, 65_535).optional(),
    'A second port that answers `/metrics` for Prometheus and `/ping`, and nothing else, without sign-in. Keep it inside of your network. [More.](operations.md#watch-it)',
  ],
  otlpEndpoint: [
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    z.url().optional(),
    'Where OpenTelemetry traces are sent to over HTTP, such as `http://collector:4318`. Other `OTEL_…` variables work as OpenTelemetry describes them.',
  ],
  otlpHeaders: [
    'OTEL_EXPORTER_OTLP_HEADERS',
    z.string().optional(),
    'Headers that are sent along, such as `authorization=…`.',
  ],
} satisfies Settings

const backups = {
  backupS3Endpoint: [
    'BACKUP_S3_ENDPOINT',
    z.url({ protocol: /^https?$/ }).optional(),
    'The address of an S3-compatible store for [backups](backup.md), such as `https://minio.example.com`, without the bucket.',
    'that of AWS in `BACKUP_S3_REGION`',
  ],
  backupS3Region: ['BACKUP_S3_REGION', z.string().default('us-east-1'), 'The region of the bucket.'],
  awsAccessKeyId: ['AWS_ACCESS_KEY_ID', z.string().optional(), 'The access key for backups to `s3://…`.'],
  awsSecretAccessKey: ['AWS_SECRET_ACCESS_KEY', z.string().optional(), 'The secret that belongs to this key.'],
  awsSessionToken: ['AWS_SESSION_TOKEN', z.string().optional(), 'The token of temporary keys.'],
} satisfies Settings

/** The full names of these variables begin with `OIDC_` and the name of the provider. */
export const oidcProvider = {
  issuerUrl: ['ISSUER_URL', z.url(), 'The address of the provider.', 'required'],
  clientId: ['CLIENT_ID', z.string(), 'The client that you registered at the provider.', 'required'],
  clientSecret: ['CLIENT_SECRET', z.string().optional(), 'The secret of this client.'],
  redirectUrl: [
    'REDIRECT_URL',
    z.url(),
    'The address that the provider sends people back to: `https://your-host/api/auth/callback`.',
    'required',
  ],
  scopes: ['SCOPES', list.default(['openid', 'profile', 'email']), 'What Weir asks the provider for.'],
  displayName: ['DISPLAY_NAME', z.string().optional(), 'The name on the sign-in page.', 'the name of the provider'],
  allowedDomains: [
    'ALLOWED_DOMAINS',
    list.default([]),
    'Mail domains of people who may sign in, such as `example.com`. Addresses that the provider calls unverified do not count.',
    'everybody',
  ],
  allowedEmails: ['ALLOWED_EMAILS', list.default([]), 'Mail addresses of people who may sign in.', 'everybody'],
  allowedGroups: ['ALLOWED_GROUPS', list.default([]), 'Groups whose members may sign in.', 'everybody'],
  groupsClaim: ['GROUPS_CLAIM', z.string().default('groups'), 'The claim that holds the groups of a person.'],
  roles: [
    'ROLES',
    groupRoles.default(EVERYTHING),
    'The [roles](access.md#roles) of the groups: `platform=admin,developers=viewer,shop-team=operator@shop`.',
    '`*=admin`',
  ],
} satisfies Settings

/** All settings of Weir, in the order of docs/configuration.md. */
export const settingGroups: readonly (readonly [title: string, settings: Settings])[] = [
  ['Server and database', server],
  ['Access', access],
  ['Secrets and networks', secrets],
  ['Collecting', collecting],
  ['Logs and notifications', logs],
  ['Backups', backups],
  ['OpenID providers', oidcProvider],
]
export const variables = { ...server, ...access, ...secrets, ...collecting, ...logs, ...backups }
