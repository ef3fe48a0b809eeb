import { SegmentedControl } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import type { Project } from '../api/description.ts'
import { question } from '../api/queries.ts'
import { Explanation } from '../explain/explanation.tsx'
import { useMay } from '../frame/sign-in.tsx'
import { ButtonTo } from '../parts/anywhere.tsx'
import { Asked, Page } from '../parts/parts.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { TABS, type Tab } from './address.ts'
import { Collect } from './collect.tsx'
import { FourKeys } from './four-keys.tsx'
import { periods } from './keys.ts'

const Blueprint = lazy(() => import('../blueprints/blueprint.tsx').then((all) => ({ default: all.ProjectBlueprint })))
const Policies = lazy(() => import('./policies.tsx').then((all) => ({ default: all.Policies })))
const Rollouts = lazy(() => import('./rollouts.tsx').then((all) => ({ default: all.Rollouts })))
const Webhooks = lazy(() => import('./webhooks.tsx').then((all) => ({ default: all.Webhooks })))
const Settings = lazy(() => import('./settings.tsx').then((all) => ({ default: all.Settings })))

const place = getRouteApi('/projects/$name')
const TITLES: Readonly<Record<Tab, string>> = {
  keys: 'Four keys',
  blueprint: 'Blueprint',
  webhooks: 'Webhooks',
  policies: 'Policies',
  rollouts: 'Rollouts',
  settings: 'Settings',
}
const RANGES = [1, 3, 6, 12].map((months) => ({
  value: String(months),
  label: months === 12 ? '1 year' : `${months} mo`,
}))
const DEFAULT_MONTHS = 6

export function ProjectPage() {
  const { name } = place.useParams()
  const { tab = 'keys', months = DEFAULT_MONTHS, explain, reason } = place.useSearch()
  const navigate = place.useNavigate()
  const isAdmin = useMay('admin')
  const project = useQuery(question('GET /projects/{projectName}', { path: { projectName: name } }))
  const blueprint = project.data?.blueprint
  const isWithRange = tab === 'keys' || tab === 'policies'
  return (
    <Page
      title={name}
      says={<bdi>{project.data?.description || 'How fast and how safely it reaches production.'}</bdi>}
      actions={
        project.data && (
          <>
            {isWithRange && (
              <SegmentedControl
                aria-label="Range"
                data={RANGES}
                value={String(months)}
                onChange={(value) => void navigate({ search: (before) => ({ ...before, months: Number(value) }) })}
              />
            )}
            <ButtonTo at={{ path: '/answer', search: { project: name, months } }}>Answer</ButtonTo>
            <ButtonTo
              at={{ path: '/dashboards/dora', search: { 'var-project': name, from: `now-${months}M`, to: 'now' } }}
            >
              Dashboard
            </ButtonTo>
            {blueprint && <Collect blueprintId={blueprint.id} isEnabled={blueprint.enable} isMain={tab === 'keys'} />}
          </>
        )
      }
    >
      <Asked of={project}>
        {(data) => (
          <>
            <Tabs label="Project">
              {TABS.filter((each) => isAdmin || each !== 'settings').map((each) => (
                <Link
                  key={each}
                  to="/projects/$name"
                  params={{ name }}
                  search={{ ...(each !== 'keys' && { tab: each }), ...(months !== DEFAULT_MONTHS && { months }) }}
                  // The address of the first tab is a prefix of all the others.
                  activeOptions={{ exact: true }}
                  aria-current={each === tab ? 'page' : undefined}
                >
                  {TITLES[each]}
                </Link>
              ))}
            </Tabs>
            <Suspense fallback={null}>
              {tab === 'keys' && <FourKeys project={data as Project} months={months} />}
              {tab === 'blueprint' && <Blueprint project={data as Project} />}
              {tab === 'webhooks' && <Webhooks project={data as Project} />}
              {tab === 'policies' && <Policies project={data as Project} months={months} />}
              {tab === 'rollouts' && <Rollouts project={data as Project} />}
              {tab === 'settings' && <Settings project={data as Project} />}
            </Suspense>
            <Explanation
              project={data as Project}
              metric={explain}
              reason={reason}
              period={periods(months).current}
              months={months}
              onClose={() => void navigate({ search: ({ explain: _, reason: __, ...rest }) => rest })}
              onReason={(next) =>
                void navigate({ search: ({ reason: _, ...rest }) => ({ ...rest, ...(next && { reason: next }) }) })
              }
            />
          </>
        )}
      </Asked>
    </Page>
  )
}
