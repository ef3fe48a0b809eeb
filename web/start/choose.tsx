import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { RemoteScope } from '../api/description.ts'
import { refresh } from '../api/queries.ts'
import type { Source } from '../api/sources.ts'
import { useDraft } from '../parts/draft.ts'
import { Page } from '../parts/parts.tsx'
import { putScopes } from '../sources/add-scopes.tsx'
import type { ConnectionOverview } from '../sources/asked.ts'
import { scopesWord } from '../sources/rules/asked.ts'
import { ScopePicker } from '../sources/scope-picker.tsx'
import type { Way } from './way.ts'

interface ChooseStepProps {
  readonly way: Way
  readonly source: Source
  readonly connection: ConnectionOverview
  onDone(): void
}

export function ChooseStep({ way: { scopes }, source, connection: { plugin, id, name }, onDone }: ChooseStepProps) {
  const [chosen, setChosen] = useDraft<readonly RemoteScope[]>(`start ${plugin} ${id}`, [])
  const store = useMutation({
    mutationFn: async () => {
      if (chosen.length > 0) await putScopes(plugin, id, chosen)
      await refresh('GET /v1/names')
    },
    onSuccess: () => {
      setChosen(undefined)
      onDone()
    },
  })
  const total = scopes.length + chosen.length
  const many = scopesWord(source, 2).slice(2)
  return (
    <Page
      title={`Which ${many} do you ship from?`}
      says={`A handful is enough to begin with; others of ${name} can be added at any time.`}
      actions={
        <Button disabled={total === 0} loading={store.isPending} onClick={() => store.mutate()}>
          {total === 0 ? 'Continue' : `Continue with ${scopesWord(source, total)}`}
        </Button>
      }
    >
      {store.error && (
        <div className="notice" role="alert">
          <span>{store.error.message}</span>
        </div>
      )}
      {scopes.length > 0 && (
        <p className="small quiet" style={{ marginBottom: 12 }}>
          {scopesWord(source, scopes.length)} {scopes.length === 1 ? 'is' : 'are'} chosen already.
        </p>
      )}
      <section className="card">
        <ScopePicker plugin={plugin} connectionId={id} chosen={chosen} onChange={setChosen} onlyNew />
      </section>
    </Page>
  )
}
