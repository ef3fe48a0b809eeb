import type { Outside } from '../effects/effect.ts'
import type { Plan, SideName } from '../model/plan.ts'
import type { Applicable, Cluster } from '../vendors/cluster.ts'
import { type GitOps, openGitOps } from './gitops.ts'

/** The outside for a plan in mode gitops: clusters are read as usual, but written through the repository that they follow. */
export function throughGit(plan: Plan, outside: Outside): Outside {
  if (plan.mode !== 'gitops' || plan.gitops === undefined) return outside
  const git = openGitOps(plan)
  return {
    ...outside,
    git,
    current: writtenThrough(git, 'current', outside.current),
    target: writtenThrough(git, 'target', outside.target),
  }
}

function writtenThrough(git: GitOps, side: SideName, cluster: Cluster): Cluster {
  return {
    ...cluster,
    async apply(object: Applicable, dryRun = false) {
      const { name, namespace, annotations } = object.metadata
      const live = object.spec === undefined ? await cluster.ingress(namespace ?? '', name) : undefined
      // An object without a specification adds to one that is there.
      if (live === undefined) return git.put(side, object, dryRun)
      return git.annotate(side, live, annotations ?? {}, dryRun)
    },
    changeIngress: (live, edit, how) =>
      side === 'current'
        ? git.change(live, edit, how)
        : git.annotate(
            side,
            live,
            Object.fromEntries(edit.annotations.map(({ key, after }) => [key, after])),
            how.dryRun,
          ),
    deleteIngress: (namespace, name) => git.remove(side, { kind: 'Ingress', namespace, name }),
    deleteBinding: (namespace, name) => git.remove(side, { kind: 'TargetGroupBinding', namespace, name }),
  }
}
