import { Button } from '@mantine/core'
import { refresh } from '../api/queries.ts'
import { Page } from '../parts/parts.tsx'
import { counted } from '../parts/words.ts'
import type { ConnectionOverview } from '../sources/asked.ts'
import { ConnectionForm } from '../sources/connection-form.tsx'
import { scopesWord } from '../sources/rules/asked.ts'
import type { Way } from './way.ts'

interface ConnectStepProps {
  readonly way: Way
  readonly plugin: string | undefined
  onPlugin(plugin: string | undefined): void
  onDone(connection: { readonly plugin: string; readonly id: number }): void
}

export function ConnectStep({ way: { sources, connections }, plugin, onPlugin, onDone }: ConnectStepProps) {
  const wordOf = ({ plugin: own, scopes }: ConnectionOverview) => {
    const known = sources.find((each) => each.plugin === own)
    return known ? scopesWord(known, scopes) : counted(scopes, 'scope')
  }
  const source = sources.find((each) => each.plugin === plugin)
  if (source)
    return (
      <Page
        title={`Connect ${source.title}`}
        says={source.about}
        actions={
          <Button variant="default" onClick={() => onPlugin(undefined)}>
            Another tool
          </Button>
        }
      >
        <ConnectionForm
          plugin={source.plugin}
          onSaved={({ id }) => {
            void refresh('GET /v1/connections').then(() => onDone({ plugin: source.plugin, id }))
          }}
        />
      </Page>
    )
  return (
    <Page
      title="Where does your team work?"
      says="Begin with the tool that has your code. Issue trackers and build tools can follow; Weir only ever reads."
    >
      {connections.length > 0 && (
        <section className="card" style={{ marginBottom: 16 }} aria-label="Connected already">
          <h2 style={{ marginBottom: 8 }}>Connected already</h2>
          {connections.map((each) => (
            <div key={`${each.plugin} ${each.id}`} className="row" style={{ padding: '6px 0', alignItems: 'center' }}>
              <span className="cut">
                <bdi>{each.name}</bdi>{' '}
                <span className="small quiet">
                  {each.title}, {wordOf(each)}
                </span>
              </span>
              <Button variant="default" size="xs" onClick={() => onDone(each)}>
                Continue with it<span className="unseen">: {each.name}</span>
              </Button>
            </div>
          ))}
        </section>
      )}
      <div className="offers">
        {sources.map(({ plugin: name, title, about }) => (
          <section key={name} className="card">
            <h2>{title}</h2>
            <p className="quiet">{about}</p>
            <Button variant="default" onClick={() => onPlugin(name)}>
              Connect {title}
            </Button>
          </section>
        ))}
      </div>
      {connections.length === 0 && (
        <p className="quiet" style={{ marginTop: 16 }}>
          Nothing to connect yet? Stop Weir and start it with <code>npm run demo</code>: it then shows an organisation
          that is made up, and leaves your own data alone.
        </p>
      )}
    </Page>
  )
}
