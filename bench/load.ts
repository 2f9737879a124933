import { connect, type Socket } from 'node:net'

export interface Load {
  readonly port: number
  /** Whole HTTP/1.1 requests, each sent once. */
  readonly requests: Iterator<Buffer>
  readonly connections: number
  readonly ms: number
}

export interface Answered {
  readonly ok: number
  readonly other: number
  readonly perSecond: number
  readonly latencies: readonly number[]
}

/** One whole POST. Made before the measurement, so that sealing and signing cost the generator nothing then. */
export function postRequest(path: string, headers: Readonly<Record<string, string>>, body: string): Buffer {
  const bytes = Buffer.from(body)
  const lines = Object.entries({
    host: '127.0.0.1',
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(bytes.length),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`), bytes])
}

/**
 * Each connection sends its next request when it has the answer of the last one. Plain sockets instead of an HTTP
 * client: the generator shares the machine with what it measures, and every cycle it takes hides a difference.
 */
export async function closedLoop(load: Load): Promise<Answered> {
  const latencies: number[] = []
  let ok = 0
  let other = 0
  const from = performance.now()
  const end = from + load.ms
  const one = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket: Socket = connect({ port: load.port, host: '127.0.0.1', noDelay: true })
      let sentAt = 0
      let got = ''
      const next = (): void => {
        if (performance.now() >= end) return void socket.end(() => resolve())
        const request = load.requests.next()
        if (request.done === true) return reject(new Error('too few requests were made for this measurement'))
        sentAt = performance.now()
        socket.write(request.value)
      }
      socket.on('connect', next)
      socket.on('error', reject)
      socket.on('data', (bytes: Buffer) => {
        got += bytes.toString('latin1')
        if (!isWhole(got)) return
        latencies.push(performance.now() - sentAt)
        if (got.startsWith('HTTP/1.1 200')) ok += 1
        else other += 1
        got = ''
        next()
      })
    })
  await Promise.all(Array.from({ length: load.connections }, one))
  return { ok, other, perSecond: (ok * 1000) / (performance.now() - from), latencies }
}

function isWhole(text: string): boolean {
  const head = text.indexOf('\r\n\r\n')
  if (head === -1) return false
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, head))
  if (length !== null) return text.length >= head + 4 + Number(length[1])
  return text.endsWith('0\r\n\r\n')
}
