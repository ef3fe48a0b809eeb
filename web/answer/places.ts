import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { root } from '../root.tsx'
import { view } from './address.ts'

export const answerPlaces = [
  createRoute({
    getParentRoute: () => root,
    path: '/answer',
    validateSearch: view,
    component: lazyRouteComponent(() => import('./answer.tsx'), 'AnswerPage'),
  }),
] as const
