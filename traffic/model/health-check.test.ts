import { expect, test } from 'vitest'
import { healthCheckOf, type Mirrored } from './health-check.ts'
import type { RoutePlan } from './plan.ts'

const planOf = (protocolVersion: 'HTTP1' | 'GRPC', healthCheck = {}) =>
  ({ targetGroup: { protocol: 'HTTP', protocolVersion, healthCheck } }) as unknown as RoutePlan
const live = (protocolVersion: string, path: string, successCodes: string): Mirrored => ({
  arn: 'arn',
  protocolVersion,
  healthCheck: { path, successCodes, intervalSeconds: 7 },
  attributes: {},
})

test.each([
  ['GRPC', live('GRPC', '/shop.Health/Check', '0'), { path: '/shop.Health/Check', successCodes: '0' }],
  ['HTTP1', live('HTTP2', '/healthz', '200-299'), { path: '/healthz', successCodes: '200-299' }],
  ['GRPC', live('HTTP1', '/healthz', '200-299'), { path: '/AWS.ALB/healthcheck', successCodes: '12' }],
  ['HTTP1', live('GRPC', '/shop.Health/Check', '0'), { path: '/', successCodes: '200' }],
] as const)('a group of %s takes from the live one what it understands: %o', (version, mirrored, expected) => {
  expect(healthCheckOf(planOf(version), mirrored)).toMatchObject({ ...expected, intervalSeconds: 7 })
  expect(healthCheckOf(planOf(version, { successCodes: '5' }), mirrored).successCodes).toBe('5')
})
