import { afterEach, describe, expect, it, vi } from 'vitest'
import { UserError } from '../../errors.ts'
import { prepareRules } from './rules.ts'
import { scopeConfigFields } from './settings.ts'

afterEach(() => vi.unstubAllEnvs())

describe('the rules of a scope config', () => {
  it('take the last label that matches, whole', () => {
    const { severityOf, componentOf } = prepareRules({ issueSeverity: 'sev/(.*)$' })
    expect(severityOf(['sev/1', 'other', 'sev/2', 'last'])).toBe('sev/2')
    expect(severityOf([])).toBe('')
    expect(componentOf(['component/a'])).toBe('')
  })

  it('give the type of the last label that has one; of several types the first listed', () => {
    const { issueTypeOf } = prepareRules({
      issueTypeRequirement: 'feature',
      issueTypeBug: 'bug|broken feature',
      issueTypeIncident: 'incident',
    })
    expect(issueTypeOf(['feature', 'bug'])).toBe('BUG')
    expect(issueTypeOf(['incident', 'feature', 'question'])).toBe('REQUIREMENT')
    expect(issueTypeOf(['broken feature'])).toBe('REQUIREMENT')
    expect(issueTypeOf(['question'])).toBe('')
  })

  it('name the repository in the pattern of closed issues', () => {
    const { closingPattern } = prepareRules({ prBodyClosePattern: 'closes https://github.com/%s/issues/\\d+' })
    const closes = (text: string) => closingPattern('acme/web')?.matcher(text).find()
    expect(closes('closes https://github.com/acme/web/issues/3')).toBe(true)
    expect(closes('closes https://github.com/acme/api/issues/3')).toBe(false)
    expect(prepareRules({}).closingPattern('acme/web')).toBeNull()
  })

  it('leave out the logins of GITHUB_PR_EXCLUDELIST, in any letter case', () => {
    vi.stubEnv('GITHUB_PR_EXCLUDELIST', ' Renovate[bot], ,dependabot[bot]')
    const { isExcluded } = prepareRules({})
    expect(['renovate[bot]', 'DEPENDABOT[bot]', 'renovate', ''].map((login) => isExcluded({ login }))).toEqual([
      true,
      true,
      false,
      false,
    ])
    expect(isExcluded(null)).toBe(false)
    vi.stubEnv('GITHUB_PR_EXCLUDELIST', '')
    expect(prepareRules({}).isExcluded({ login: '' })).toBe(false)
  })

  it.each(Object.entries(scopeConfigFields).filter(([, { kind }]) => kind === 'regex'))(
    'refuse a broken %s, and accept what the form suggests',
    (name, { suggestion }) => {
      expect(() => prepareRules({ [name]: '(broken' })).toThrow(UserError)
      expect(() => prepareRules({ [name]: '(broken' })).toThrow(`${name}: the pattern "(broken" does not compile`)
      expect(() => prepareRules({ [name]: suggestion })).not.toThrow()
    },
  )

  it('have five panels', () => {
    expect([...new Set(Object.values(scopeConfigFields).map(({ panel }) => panel))]).toEqual([
      'Issue tracking',
      'CI/CD',
      'Code review',
      'Cross-domain',
      'Additional settings',
    ])
  })
})
