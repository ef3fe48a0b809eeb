import '../settings/settings.css'
import { Button, Select } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ask } from '../api/ask.ts'
import { Page } from '../parts/parts.tsx'
import { refreshSwitches } from './describe.tsx'
import { ImportForm } from './import-form.tsx'
import { PlanEditor, useLint } from './plan-editor.tsx'

const PRESETS = ['instant', 'canary', 'standard', 'careful'] as const

export function NewSwitch() {
  const navigate = useNavigate()
  const [yaml, setYaml] = useState('')
  const lint = useLint(yaml)
  const begin = useMutation({
    mutationFn: (preset: (typeof PRESETS)[number]) =>
      ask('GET /v1/traffic-plans/new', { query: { name: 'shop', preset } }),
    onSuccess: (plan) => setYaml(plan.yaml),
  })
  const store = useMutation({
    mutationFn: () => ask('POST /v1/traffic-switches', { body: { yaml } }),
    onSuccess: async ({ id }) => {
      await refreshSwitches()
      void navigate({ to: '/traffic/$id', params: { id } })
    },
  })
  return (
    <Page title="New switch" says="Make a plan, correct it, and store it as a draft. Nothing changes in the clusters.">
      <div className="sections">
        <section className="card" aria-labelledby="from-live">
          <h2 id="from-live">1. From what is live</h2>
          <p className="quiet" style={{ margin: '4px 0 12px' }}>
            Weir reads Ingress, Service and load balancer, and asks what it cannot know.
          </p>
          <ImportForm onPlan={setYaml} hasPlan={yaml.trim() !== ''} />
          <div className="preset">
            <Select
              label="Or begin with a plan to fill in"
              placeholder="Choose how to split the move"
              data={[...PRESETS]}
              value={null}
              onChange={(preset) => preset && begin.mutate(preset as (typeof PRESETS)[number])}
            />
          </div>
        </section>
        <section className="card" aria-labelledby="plan">
          <h2 id="plan">2. The plan</h2>
          <p className="quiet" style={{ margin: '4px 0 12px' }}>
            {yaml.trim() === ''
              ? 'Made above. One that you have already can be pasted here.'
              : 'Correct it, then store it.'}
          </p>
          <div className="fields">
            <PlanEditor yaml={yaml} onChange={setYaml} lint={lint} />
            {(store.error ?? begin.error) && (
              <p role="alert" className="bad" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-line' }}>
                {(store.error ?? begin.error)?.message}
              </p>
            )}
            <div className="buttons">
              <Button disabled={!lint.isClean} loading={store.isPending} onClick={() => store.mutate()}>
                Store as a draft
              </Button>
            </div>
          </div>
        </section>
      </div>
    </Page>
  )
}
