/** Both clusters of a plan, as a repository describes them. */
import { lintBranch } from '../lint/gitops.ts'
import { actionKey, type ForwardAction } from '../model/action.ts'
import { parsedAction, weightsText } from '../model/action-text.ts'
import { type Finding, finding, TrafficError } from '../model/finding.ts'
import type { IngressEdit } from '../model/ingress.ts'
import type { Ingress } from '../model/manifests.ts'
import { textOf } from '../model/names.ts'
import type { Plan, SideName } from '../model/plan.ts'
import type { Applicable, HowToChange } from '../vendors/cluster.ts'
import { isSameValue } from './branch-edit.ts'
import type { Form, FormSettings } from './form.ts'
import { helmForm } from './helm-form.ts'
import { kustomizeForm } from './kustomize-form.ts'
import { manifestForm } from './manifest-form.ts'
import { type Changes, openRepository, type Tree, withChanges } from './repository.ts'
import { type Compute, openTrack, type Track, type Waiting } from './track.ts'
import type { ObjectName } from './yaml-file.ts'

/** The action of an Ingress of the current cluster, and its wanted value. */
interface GitSubject {
  /** Set if the plan lists its routes. */
  readonly route: string | undefined
  readonly namespace: string
  readonly ingress: string
  readonly actionName: string
  readonly wanted: ForwardAction
}

export interface GitOps {
  /** Sets a check that runs before every push; it throws if another process has the switch now. */
  guardWith(mayWrite: () => Promise<void>): void
  /** The condition that the last change still waits for. */
  waiting(): Promise<Waiting | undefined>
  /** Differences between the repository and what is live, looked for before anything is changed. */
  findings(current: Ingress, target: Ingress | undefined): Promise<readonly Finding[]>
  missingRollback(subject: GitSubject): Promise<string | undefined>
  /** A fence is committed even if nothing is left to change. */
  rollBack(subject: GitSubject, dryRun: boolean, isFence: boolean): Promise<void>
  /** Proposals of this switch that nobody has merged. */
  openProposals(): Promise<readonly string[]>
  withdraw(): Promise<void>
  change(live: Ingress, edit: IngressEdit, how: HowToChange): Promise<void>
  put(side: SideName, object: Applicable, dryRun: boolean): Promise<void>
  annotate(
    side: SideName,
    live: Ingress,
    annotations: Readonly<Record<string, unknown>>,
    dryRun: boolean,
  ): Promise<void>
  remove(side: SideName, object: ObjectName): Promise<void>
}

const FORMS: Readonly<Record<FormSettings['form'], (settings: FormSettings) => Form>> = {
  manifest: manifestForm,
  kustomize: kustomizeForm,
  helm: helmForm,
}

interface OpenSide {
  readonly track: Track
  readonly form: Form
  readonly where: string
}

function openSide(plan: Plan, side: SideName, mayWrite: () => Promise<void>): OpenSide {
  const gitops = plan.gitops!
  const own = gitops[side]
  const repository = openRepository(own.repository ?? gitops.repository)
  const branch = own.branch ?? gitops.branch
  const where = `branch ${branch} of ${repository.url}`
  const hasOwnBranch = own.branch !== undefined && own.branch !== gitops.branch
  const proposal = `${gitops.proposalBranch ?? `weir/${plan.name}`}${hasOwnBranch ? `-${side}` : ''}`
  return {
    where,
    track: openTrack({ ...gitops, repository, branch, proposal, name: plan.name, mayWrite }),
    form: FORMS[own.form]({ ...own, name: plan.name, where }),
  }
}

const sayOf = (text: unknown): string =>
  text === undefined ? 'the action is taken out' : `weights ${weightsText(parsedAction(text))}`

export function openGitOps(plan: Plan): GitOps {
  let guard = async () => {}
  const mayWrite = () => guard()
  const sides = { current: openSide(plan, 'current', mayWrite), target: openSide(plan, 'target', mayWrite) }
  let last: Track | undefined
  const ensure = (side: SideName, order: Parameters<Track['ensure']>[0]): Promise<void> => {
    last = sides[side].track
    return last.ensure({ ...order, title: `Traffic switch ${plan.name}: ${order.title}` })
  }
  function titleOf({ annotations }: IngressEdit, { isRollback, step, route }: HowToChange): string {
    const action = annotations.find((each) => each.key.startsWith(actionKey('')))
    const what = action === undefined ? 'paths of the Service' : sayOf(action.after)
    // A rollback may belong to several routes.
    if (isRollback) return `rollback, ${what}`
    return `step ${step} of ${plan.steps.length - 1}, ${what}${route === undefined ? '' : ` (${route})`}`
  }
  /** The changes that each route has ordered for its rollback. */
  const goingBack = new Map<string | undefined, Compute>()
  /** Routes roll back side by side, and each proposal replaces the one before it. So it contains what all of them want. */
  const backTogether =
    (route: string | undefined): Compute =>
    async (tree) => {
      let changes = await goingBack.get(route)!(tree)
      for (const [other, compute] of goingBack) {
        if (other === route) continue
        const more = await compute(withChanges(tree, changes)).catch((error: unknown): Changes => {
          // A route that cannot roll back must never keep another from doing so.
          if (error instanceof TrafficError) return new Map()
          throw error
        })
        changes = new Map([...changes, ...more])
      }
      return changes
    }
  /** One fence is enough for all routes. */
  let isFenced = false
  async function orderBack(
    route: string | undefined,
    own: Compute,
    title: string,
    dryRun: boolean,
    isFence = false,
  ): Promise<void> {
    if (dryRun) return ensure('current', { compute: own, title, dryRun, isRollback: true })
    goingBack.set(route, own)
    await ensure('current', { compute: backTogether(route), title, isRollback: true, isFence: isFence && !isFenced })
    isFenced ||= isFence
  }
  const nameOf = ({ namespace, ingress }: GitSubject): ObjectName => ({ kind: 'Ingress', name: ingress, namespace })
  /** Changes the action only; a rollback leaves everything beside it alone. */
  const rollbackCompute =
    (subject: GitSubject): Compute =>
    async (tree) => {
      const { form } = sides.current
      const key = actionKey(subject.actionName)
      const after = JSON.stringify(subject.wanted)
      const annotations = await form.annotations(tree, nameOf(subject))
      const found = annotations?.[key]
      if (found === undefined || isSameValue(found, after)) return new Map()
      const { name, namespace } = nameOf(subject)
      const live = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: { name, namespace }, spec: {} }
      const edit = { backends: [], annotations: [{ key, before: textOf(found), after }] }
      return form.change(tree, live as Ingress, edit, true)
    }

  return {
    guardWith(check) {
      guard = check
    },
    waiting: async () => last?.waiting(),
    findings: async (current, target) => [
      ...(await findingsOf('current', current)),
      ...(target === undefined ? [] : await findingsOf('target', target)),
    ],
    async missingRollback(subject) {
      const { track, form, where } = sides.current
      if (await track.isSettled(rollbackCompute(subject))) return undefined
      const annotations = await track.look((tree) => form.annotations(tree, nameOf(subject)))
      const found = annotations?.[actionKey(subject.actionName)]
      return isSameValue(found, JSON.stringify(subject.wanted))
        ? `a proposal for ${where} still wants other weights`
        : `${where} still says ${sayOf(found)}`
    },
    rollBack: (subject, dryRun, isFence) => {
      const title = `rollback, ${sayOf(JSON.stringify(subject.wanted))}`
      return orderBack(subject.route, rollbackCompute(subject), title, dryRun, isFence)
    },
    openProposals: async () =>
      (await Promise.all([sides.current.track.openProposal(), sides.target.track.openProposal()])).filter(
        (each) => each !== undefined,
      ),
    async withdraw() {
      for (const { track } of [sides.current, sides.target]) await track.withdraw()
    },
    change(live, edit, how) {
      const compute: Compute = (tree) => sides.current.form.change(tree, live, edit, how.overridesDrift)
      const title = titleOf(edit, how)
      if (how.isRollback) return orderBack(how.route, compute, title, how.dryRun)
      return ensure('current', { compute, title, dryRun: how.dryRun })
    },
    put: (side, object, dryRun) =>
      ensure(side, {
        compute: (tree) => sides[side].form.put(tree, object),
        title: `${object.kind} ${object.metadata.name}`,
        dryRun,
        // The only object that is put there again is the Ingress that clean-up had removed.
        isRollback: side === 'current',
      }),
    annotate(side, live, annotations, dryRun) {
      const edit: IngressEdit = {
        backends: [],
        annotations: Object.entries(annotations).map(([each, after]) => ({
          key: each,
          before: live.metadata.annotations?.[each] as string | undefined,
          after: after === undefined ? undefined : String(after),
        })),
      }
      const compute = (tree: Tree) => sides[side].form.change(tree, live, edit, false)
      return ensure(side, { compute, title: `annotations of Ingress ${live.metadata.name}`, dryRun })
    },
    remove: (side, object) =>
      ensure(side, {
        compute: (tree) => sides[side].form.remove(tree, object),
        title: `${object.kind} ${object.name} is removed`,
      }),
  }

  async function findingsOf(side: SideName, live: Ingress): Promise<readonly Finding[]> {
    const path = `gitops.${side}.path`
    const { track, form, where } = sides[side]
    const name = { kind: 'Ingress', name: live.metadata.name, namespace: live.metadata.namespace }
    try {
      const found = await track.look(async (tree) => ({
        annotations: await form.annotations(tree, name),
        ingress: await form.ingress(tree, name),
      }))
      // Only Helm knows what a chart makes of its values, and the target gets no more than an annotation.
      const isEnough = found.annotations !== undefined && (found.ingress === undefined || side === 'target')
      return isEnough ? [] : lintBranch(path, found.ingress, live, where)
    } catch (error) {
      if (error instanceof TrafficError) return [finding('TS-O04', path, error.message)]
      throw error
    }
  }
}
