import type { Plot } from './plot.ts'

export const controlPlane: readonly Plot[] = [
  {
    file: 'src/control-plane/versions.ts',
    tests: ['src/control-plane/versions.test.ts'],
    defects: [
      ['Number(moment) + 1', 'Number(moment)'],
      ['Math.max(Date.now(), ', 'Math.min(Date.now(), '],
      ['seen !== undefined && Number(seen)', 'Number(seen)'],
      ['Number(seen) !== Number(updatedAt)', 'Number(seen) < Number(updatedAt)'],
    ],
  },
  {
    file: 'src/control-plane/runs/states.ts',
    tests: ['src/control-plane/runs/states.test.ts'],
    defects: [
      ["TASK_PARTIAL: ['TASK_RERUN']", "TASK_PARTIAL: ['TASK_RERUN', 'TASK_FAILED']"],
      ["['TASK_RESUME', ...FINISHED]", '[...FINISHED]'],
      ['mayFollow(from, to))', 'mayFollow(to, from))'],
    ],
  },
  {
    file: 'src/control-plane/plan/stages.ts',
    tests: ['src/control-plane/plan/stages.test.ts'],
    defects: [
      ['Task ${column + 1} in stage ${row + 1} of', 'Task ${column + 1} in stage ${row} of'],
      ['path: [row, column]', 'path: [column, row]'],
      ['Array.isArray(entry) !== Array.isArray(plan[0])', 'Array.isArray(entry) === Array.isArray(plan[0])'],
      ['Stage ${row + 1} of ${name} must', 'Stage ${row} of ${name} must'],
      ['path: [column] }', 'path: [column + 1] }'],
    ],
  },
  {
    file: 'src/control-plane/plan/task-title.ts',
    tests: ['src/control-plane/plan/task-title.test.ts'],
    defects: [
      [".replace(/\\/\\/[^/@]*@/, '//')", ''],
      ['name === undefined || message.includes(name)', 'name === undefined'],
      ["typeof value === 'string' && value !== ''", "typeof value === 'string'"],
      ['other === undefined ? task.plugin : clean(other)', 'task.plugin'],
    ],
  },
]
