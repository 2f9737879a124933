import { readdirSync, readFileSync } from 'node:fs'

/**
 * CPU time in milliseconds that these processes and their children have used; NaN where there is no /proc. On a busy
 * machine it says more than a rate: other work takes turns on the cores, but hardly makes ours longer.
 */
export function cpuMs(pids: readonly number[]): number {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .reduce((sum, name) => sum + ofProcess(name, pids), 0)
  } catch {
    return Number.NaN
  }
}

function ofProcess(pid: string, pids: readonly number[]): number {
  let fields: string[]
  try {
    fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  } catch {
    // It ended between the two looks.
    return 0
  }
  // After the name: state, parent, …; user and system time are counted in hundredths of a second.
  if (!pids.includes(Number(pid)) && !pids.includes(Number(fields[1]))) return 0
  return (Number(fields[11]) + Number(fields[12])) * 10
}
