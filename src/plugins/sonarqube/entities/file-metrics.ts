import { cqFileMetrics } from '../../../domain/quality.ts'
import { bothEnds } from '../both-ends.ts'
import { fileKey, fileMetrics, halfOf, knownFile, measuresOf } from '../file-metrics.ts'
import { entity, hasProject, projects, shortKey } from '../kit.ts'

export default entity(fileMetrics, {
  label: 'File Metrics',
  names: { collect: 'CollectFilemetrics', extract: 'ExtractFilemetrics' },
  domainTypes: ['CODEQUALITY'],
  raw: 'sonarqube_api_filemetrics',
  collect: {
    when: hasProject,
    request: ({ scope }) => measuresOf('main', scope),
    paging: bothEnds,
    records: ({ components }) => components,
    key: ({ key }) => key,
    endsOn: [400], // the limit from the other end is also reached
  },
  extract: {
    edition: 1,
    lookups: { known: knownFile },
    rows: (file, { read, lookups }) => [
      read(fileMetrics, file, halfOf('additional', lookups.known.get(fileKey(file)))),
    ],
  },
  convert: {
    to: [cqFileMetrics],
    rows: (file, { idOf }) => [
      cqFileMetrics.row({
        ...halfOf('main', file),
        ...halfOf('additional', file),
        id: idOf(fileMetrics, file.file_metrics_key),
        project_key: idOf(projects, shortKey(file.project_key)),
        file_name: file.file_name,
        file_path: file.file_path,
        file_language: file.file_language,
      }),
    ],
  },
})
