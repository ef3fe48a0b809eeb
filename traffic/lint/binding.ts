import { type Finding, finding } from '../model/finding.ts'
import { findPort, type Services, serviceBeside, type TargetGroupBinding } from '../model/manifests.ts'
import * as names from '../model/names.ts'

export function lintBinding(binding: TargetGroupBinding, services: Services): readonly Finding[] {
  const findings: Finding[] = []
  const { spec } = binding
  if (!names.BINDING_NAME.test(binding.metadata.name))
    findings.push(finding('TS-B01', 'metadata.name', `got ${names.describeValue(binding.metadata.name)}`))
  if (spec.targetGroupARN === undefined && spec.targetGroupName === undefined) {
    findings.push(finding('TS-A04', 'spec', 'expected targetGroupARN or targetGroupName'))
  }
  if (spec.targetGroupARN !== undefined && names.parseTargetGroupArn(spec.targetGroupARN) === undefined) {
    findings.push(
      finding(
        'TS-T03',
        'spec.targetGroupARN',
        `${names.describeValue(spec.targetGroupARN)} is not the ARN of a target group`,
      ),
    )
  }
  if (spec.vpcID !== undefined && !names.VPC_ID.test(spec.vpcID))
    findings.push(finding('TS-V01', 'spec.vpcID', `got ${names.describeValue(spec.vpcID)}`))
  if (!names.isPort(spec.serviceRef.port))
    findings.push(finding('TS-P01', 'spec.serviceRef.port', `got ${names.describeValue(spec.serviceRef.port)}`))
  const service = serviceBeside(services, binding, spec.serviceRef.name)
  const port = service === undefined ? undefined : findPort(service, spec.serviceRef.port)
  if (service !== undefined && port === undefined) {
    findings.push(
      finding(
        'TS-P02',
        'spec.serviceRef.port',
        `Service ${spec.serviceRef.name} has no port ${names.describeValue(spec.serviceRef.port)}`,
      ),
    )
  }
  for (const [index, rule] of (spec.networking?.ingress ?? []).entries()) {
    const path = `spec.networking.ingress[${index}]`
    if (rule.from.length === 0 || rule.ports.length === 0)
      findings.push(finding('TS-B02', path, 'from and ports each need an entry; an empty list opens nothing'))
    for (const [peer, { securityGroup, ipBlock }] of rule.from.entries()) {
      if ((securityGroup === undefined) === (ipBlock === undefined))
        findings.push(finding('TS-B02', `${path}.from[${peer}]`, 'expected exactly one of securityGroup and ipBlock'))
      if (securityGroup !== undefined && !names.SECURITY_GROUP_ID.test(securityGroup.groupID)) {
        findings.push(
          finding(
            'TS-V01',
            `${path}.from[${peer}].securityGroup.groupID`,
            `got ${names.describeValue(securityGroup.groupID)}`,
          ),
        )
      }
    }
    const opened = rule.ports.map((item) => item.port)
    if (
      spec.targetType !== 'instance' &&
      port !== undefined &&
      opened.every((item) => item !== port.targetPort) &&
      opened.includes(port.port)
    ) {
      findings.push(
        finding(
          'TS-B03',
          `${path}.ports`,
          `port ${port.port} is the Service's; its containers listen on ${port.targetPort}`,
          'warning',
        ),
      )
    }
  }
  return findings
}
