/**
 * Loaded with `--import`. The process kills itself, as `kill -9` does, at one of its steps. A step is an action with an
 * effect outside the process: sending a packet to a database, writing a piece of a file, or giving a file its name. The
 * moments before and after the action count as two steps. Without KILL_AT the number of steps is written to STEPS_FILE, so
 * that a test can choose one of them.
 */
import fs, { writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { Socket } from 'node:net'

const { KILL_AT, STEPS_FILE } = process.env
let steps = 0
const step = () => {
  if (++steps === Number(KILL_AT)) process.kill(process.pid, 'SIGKILL')
}
const countCalls = (owner, name) => {
  const original = owner[name]
  owner[name] = function (...parameters) {
    step()
    const result = original.apply(this, parameters)
    if (typeof result?.then === 'function') return result.finally(step)
    step()
    return result
  }
}

for (const name of ['write', 'writev', 'renameSync', 'linkSync']) countCalls(fs, name)
countCalls(fs.promises, 'rename')
// Writing to a terminal or a pipe is not network traffic.
const isRemote = (socket) => socket.remotePort !== undefined || socket.connecting
const write = Socket.prototype.write
Socket.prototype.write = function (...parameters) {
  if (!isRemote(this)) return write.apply(this, parameters)
  step()
  const result = write.apply(this, parameters)
  step()
  return result
}
syncBuiltinESMExports()
if (STEPS_FILE) process.on('exit', () => writeFileSync(STEPS_FILE, String(steps)))
