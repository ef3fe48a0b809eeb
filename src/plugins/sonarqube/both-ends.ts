import type { Paging } from '../../plugin-kit/index.ts'
import { CAP, inPages } from './kit.ts'

/** Reads a list in ascending order up to SonarQube's limit, and the rest of a longer list from its other end. */
export const bothEnds: Paging = {
  ...inPages,
  at(request, { size, offset = 0 }) {
    const isBack = offset >= CAP
    const p = (isBack ? offset - CAP : offset) / size + 1
    return { ...request, query: { ...request.query, asc: !isBack, p, ps: size } }
  },
}
