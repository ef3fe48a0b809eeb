import { z } from 'zod'

const rate = z.number().min(0).max(1)
/** Fields of both kinds of metric gates: bounds, and how many periods in a row decide. */
const bounds = {
  max: z.number().optional(),
  min: z.number().optional(),
  /** At most this many times the value of the current side in the same period … */
  maxRatio: z.number().positive().optional(),
  /** … and at most this much more: a few errors against none at all are no failure. */
  slack: z.number().min(0).default(0),
  failureLimit: z.int().min(1).max(1000).default(3),
  inconclusiveLimit: z.int().min(1).max(1000).default(10),
}
const query = z.string().min(1).max(4000)
export const gateSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('incidents'), max: z.int().min(0).default(0) }),
  z.strictObject({ kind: z.literal('failureRate'), max: rate, minSamples: z.int().min(1).default(1) }),
  z.strictObject({
    kind: z.literal('targetsHealthy'),
    minHealthy: z.int().min(1).default(1),
    minRatio: rate.default(0),
    /** This many looks in a row must agree before the gate fails. */
    failureLimit: z.int().min(1).max(100).default(3),
  }),
  z.strictObject({ kind: z.literal('approval') }),
  z.strictObject({
    kind: z.literal('cloudWatch'),
    metric: z.enum(['errorRate', 'latency', 'requests']),
    statistic: z.enum(['Average', 'p50', 'p90', 'p95', 'p99']).default('p99'),
    minRequests: z.int().min(1).default(50),
    periodSeconds: z.int().min(60).max(3600).multipleOf(60).default(60),
    /** The numbers of a period are complete this many seconds after its end. */
    delaySeconds: z.int().min(0).max(3600).default(120),
    ...bounds,
  }),
  z.strictObject({
    kind: z.literal('prometheus'),
    /** Shown in messages instead of the query. */
    name: z.string().min(1).max(40).optional(),
    target: query,
    current: query.optional(),
    /** The number of requests behind `target`, in the period. */
    traffic: query.optional(),
    minTraffic: z.number().min(0).default(50),
    periodSeconds: z.int().min(1).max(3600).default(60),
    delaySeconds: z.int().min(0).max(3600).default(15),
    ...bounds,
  }),
])
