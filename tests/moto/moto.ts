/** Starts moto's server, with functions to create the resources of a test. */
import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import * as elb from '@aws-sdk/client-elastic-load-balancing-v2'
import { freePort } from '../support/servers.ts'

const REGION = 'eu-central-1'

export interface Moto {
  readonly url: string
  readonly client: elb.ElasticLoadBalancingV2Client
  readonly vpcId: string
  /** The environment that a process needs to find the server. */
  readonly environment: Readonly<Record<string, string>>
  addLoadBalancer(name: string): Promise<{ arn: string; dnsName: string; zoneId: string; listener: string }>
  reset(): Promise<void>
  close(): Promise<void>
}

export async function startMoto(): Promise<Moto> {
  const program = process.env.MOTO_SERVER
  if (!program) throw new Error('MOTO_SERVER is not set: use npm run check:aws')
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const child = spawn(program, ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' })
  const isReady = () =>
    fetch(`${url}/moto-api/`).then(
      ({ ok }) => ok,
      () => false,
    )
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error('moto did not start')
    await sleep(100)
  }
  const environment = {
    AWS_ENDPOINT_URL: url,
    AWS_ACCESS_KEY_ID: 'AKIAFAKE',
    AWS_SECRET_ACCESS_KEY: 'fake',
    AWS_EC2_METADATA_DISABLED: 'true',
  }
  const credentials = { accessKeyId: 'AKIAFAKE', secretAccessKey: 'fake' }
  const client = new elb.ElasticLoadBalancingV2Client({ region: REGION, endpoint: url, credentials })
  /** Weir has no client for this single kind of request. moto reads only the service from the signature. */
  const ec2 = async (Action: string): Promise<string> => {
    const answer = await fetch(url, {
      method: 'POST',
      body: new URLSearchParams({ Action, Version: '2016-11-15' }),
      headers: { authorization: `AWS4-HMAC-SHA256 Credential=AKIAFAKE/20260101/${REGION}/ec2/aws4_request` },
    })
    return answer.text()
  }
  const moto = {
    url,
    client,
    vpcId: '',
    environment,
    async addLoadBalancer(name: string) {
      const subnets = [...(await ec2('DescribeSubnets')).matchAll(/<subnetId>(subnet-\w+)</g)].map(([, id]) => id!)
      const securityGroup = /<groupId>(sg-\w+)</.exec(await ec2('DescribeSecurityGroups'))![1]!
      const made = await client.send(
        new elb.CreateLoadBalancerCommand({
          Name: name,
          Subnets: [...new Set(subnets)].slice(0, 2),
          SecurityGroups: [securityGroup],
        }),
      )
      const { LoadBalancerArn, DNSName, CanonicalHostedZoneId } = made.LoadBalancers![0]!
      const fixed: elb.Action = {
        Type: 'fixed-response',
        FixedResponseConfig: { StatusCode: '404', ContentType: 'text/plain' },
      }
      const { Listeners } = await client.send(
        new elb.CreateListenerCommand({ LoadBalancerArn, Port: 80, Protocol: 'HTTP', DefaultActions: [fixed] }),
      )
      const listener = Listeners![0]!.ListenerArn!
      return { arn: LoadBalancerArn!, dnsName: DNSName!, zoneId: CanonicalHostedZoneId!, listener }
    },
    async reset() {
      await fetch(`${url}/moto-api/reset`, { method: 'POST' })
      moto.vpcId = /<vpcId>(vpc-\w+)</.exec(await ec2('DescribeVpcs'))![1]!
    },
    async close() {
      client.destroy()
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await ended
    },
  }
  await moto.reset()
  return moto
}
