import { bothEnds } from '../both-ends.ts'
import { fileKey, fileMetrics, halfOf, knownFile, measuresOf } from '../file-metrics.ts'
import { entity, hasProject } from '../kit.ts'

/** Runs before the entity with the other measures, which writes the final rows. */
export default entity(fileMetrics, {
  label: 'Additional Filemetrics',
  names: { collect: 'CollectAdditionalFilemetrics', extract: 'ExtractAdditionalFileMetrics' },
  domainTypes: ['CODEQUALITY'],
  raw: 'sonarqube_api_filemetrics_additional',
  collect: {
    when: hasProject,
    request: ({ scope }) => measuresOf('additional', scope),
    paging: bothEnds,
    records: ({ components }) => components,
    key: ({ key }) => key,
    endsOn: [400], // the limit from the other end is also reached
  },
  extract: {
    edition: 1,
    lookups: { known: knownFile },
    rows: (file, { read, lookups }) => [read(fileMetrics, file, halfOf('main', lookups.known.get(fileKey(file))))],
  },
})
