import { SegmentedControl } from '@mantine/core'
import { useState } from 'react'
import { Copy } from '../parts/copy.tsx'
import type { Webhook } from './asked.ts'

const NOW = '$(date -u +%Y-%m-%dT%H:%M:%SZ)'

interface Command {
  readonly title: string
  readonly says: string
  readonly path: (webhook: Webhook) => string
  readonly body?: object
}

/** Each command works as written in a POSIX shell; values in capital letters have to be replaced. */
const COMMANDS: readonly Command[] = [
  {
    title: 'Deployment',
    says: 'At the end of a deploy script. The commit is what lead time is counted from. Send the result FAILURE if it failed: it is then listed, but not counted as a deployment.',
    path: ({ postPipelineDeployTaskEndpoint }) => postPipelineDeployTaskEndpoint,
    body: {
      id: 'deployment-$(date +%s)',
      result: 'SUCCESS',
      environment: 'PRODUCTION',
      startedDate: NOW,
      finishedDate: NOW,
      deploymentCommits: [
        {
          repoUrl: 'https://github.com/OWNER/REPOSITORY',
          commitSha: '$(git rev-parse HEAD 2>/dev/null || echo 0000000000000000000000000000000000000000)',
          refName: 'main',
          startedDate: NOW,
          finishedDate: NOW,
        },
      ],
    },
  },
  {
    title: 'Open an incident',
    says: 'When an alert fires. Send the same key again to change it.',
    path: ({ postIssuesEndpoint }) => postIssuesEndpoint,
    body: {
      issueKey: 'INCIDENT-1',
      title: 'Checkout is down',
      type: 'INCIDENT',
      status: 'TODO',
      originalStatus: 'open',
      createdDate: NOW,
    },
  },
  {
    title: 'Close an incident',
    says: 'When the alert is over: recovery time is counted up to this moment.',
    path: ({ closeIssuesEndpoint }) => closeIssuesEndpoint.replace(':issueKey', 'INCIDENT-1'),
  },
  {
    title: 'Pull request',
    says: 'From a code host that Weir does not read.',
    path: ({ postPullRequestsEndpoint }) => postPullRequestsEndpoint,
    body: {
      id: 'pull-request-1',
      pullRequestKey: 1,
      displayTitle: 'Faster checkout',
      createdDate: NOW,
    },
  },
]

function commandOf({ path, body }: Command, webhook: Webhook, secret: string): string {
  const lines = [
    `curl --fail-with-body -X POST ${location.origin}${path(webhook)}`,
    `  -H "Authorization: Bearer ${secret}"`,
    ...(body ? ['  -H "Content-Type: application/json"', '  --data @- <<END'] : []),
  ]
  // The shell fills in the parts in $(…).
  return lines.join(' \\\n') + (body ? `\n${JSON.stringify(body, null, 2)}\nEND` : '')
}

interface CommandsProps {
  readonly webhook: Webhook
  readonly secret: string | undefined
}

export function Commands({ webhook, secret }: CommandsProps) {
  const [title, setTitle] = useState(COMMANDS[0]?.title ?? '')
  const command = COMMANDS.find((each) => each.title === title) as Command
  const text = commandOf(command, webhook, secret ?? '$WEIR_KEY')
  return (
    <section className="card" aria-labelledby="commands">
      <div className="section-head">
        <div>
          <h2 id="commands">Send</h2>
          <p>{command.says}</p>
        </div>
        <Copy text={text} label="Copy command" />
      </div>
      <div style={{ overflowX: 'auto', marginBottom: 12 }}>
        <SegmentedControl
          aria-label="What to send"
          data={COMMANDS.map((each) => each.title)}
          value={title}
          onChange={setTitle}
        />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys */}
      <pre className="code" tabIndex={0}>
        {text}
      </pre>
      {!secret && (
        <p className="small quiet" style={{ marginTop: 8 }}>
          <code className="mono">$WEIR_KEY</code> stands for the key: set it where the command runs.
        </p>
      )}
    </section>
  )
}
