import { Button, Group, TagsInput, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { question } from '../api/queries.ts'
import { MissingField } from '../dashboards/remedy.tsx'

export interface ServiceSettings {
  /** Null: any category. */
  readonly issueCategories: readonly string[] | null
  readonly component: string | null
}

interface ServiceChoiceProps {
  readonly project: string
  readonly settings: ServiceSettings
  readonly isInUse: boolean
  readonly isDisabled: boolean
  readonly save: (settings: ServiceSettings) => void
}

/** Chooses the incidents that the policy “service-report” counts. */
export function ServiceChoice({ project, settings, isInUse, isDisabled, save }: ServiceChoiceProps) {
  const [categories, setCategories] = useState<string[]>([...(settings.issueCategories ?? [])])
  const [component, setComponent] = useState(settings.component ?? '')
  const known = useQuery(
    question('GET /v1/dashboards/{dashboard}/variables/{variable}', {
      path: { dashboard: 'service-report', variable: 'issue_category' },
      query: { values: JSON.stringify({ project }) },
    }),
  )
  const definition = useQuery(
    question('GET /v1/dashboards/{dashboard}', { path: { dashboard: 'service-report' }, query: {} }),
  )
  const isSame =
    component === (settings.component ?? '') &&
    JSON.stringify(categories) === JSON.stringify(settings.issueCategories ?? [])
  return (
    <section className="card" style={{ marginTop: 16, padding: 16 }} aria-label="Incidents of the service report">
      <h3>Incidents of the service report</h3>
      <p className="small quiet" style={{ maxWidth: 720 }}>
        {isInUse
          ? 'This project counts by the service report: the incidents chosen here, relative to all deployments.'
          : 'The policy “service-report” is off. What is chosen here counts as soon as it is in use.'}{' '}
        The category of an incident is its column x_issue_category, which a mapping of the blueprint fills.
      </p>
      {definition.data?.missingField && <MissingField field={definition.data.missingField} />}
      <Group align="end" mt={12}>
        <TagsInput
          label="Categories"
          placeholder={categories.length === 0 ? 'any' : ''}
          data={(known.data?.options ?? []).map(({ value }) => value).filter(Boolean)}
          value={categories}
          onChange={setCategories}
          disabled={isDisabled}
          miw={280}
        />
        <TextInput
          label="Component"
          placeholder="any"
          value={component}
          onChange={({ currentTarget }) => setComponent(currentTarget.value)}
          disabled={isDisabled}
        />
        <Button
          variant="default"
          disabled={isDisabled || isSame}
          onClick={() =>
            save({ issueCategories: categories.length > 0 ? categories : null, component: component.trim() || null })
          }
        >
          Save the choice
        </Button>
      </Group>
    </section>
  )
}
