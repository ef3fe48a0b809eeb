export function loadCloudWatch(): Promise<typeof import('@aws-sdk/client-cloudwatch')>
export function loadElbV2(): Promise<typeof import('@aws-sdk/client-elastic-load-balancing-v2')>
export function loadRoute53(): Promise<typeof import('@aws-sdk/client-route-53')>
export function loadKubernetes(): Promise<typeof import('@kubernetes/client-node')>
