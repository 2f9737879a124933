import { crc32, deflateSync } from 'node:zlib'

/** The file that `!attach` gives: a real picture for a name that ends in `.png`, else a few lines of text. */
export function fileNamed(fileName: string): { readonly mediaType: string; readonly bytes: Uint8Array } {
  if (fileName.toLowerCase().endsWith('.png')) return { mediaType: 'image/png', bytes: chart() }
  const text = `${fileName}\nMade by the rehearsal runtime; no model is connected.\n由排练运行时生成，没有连接模型。\n`
  return { mediaType: 'text/plain', bytes: new TextEncoder().encode(text) }
}

const WIDTH = 240
const HEIGHT = 120
const heights = [30, 55, 42, 80, 66, 98] as const

/** A bar chart as PNG: 8 bits, RGB, not interlaced. */
function chart(): Uint8Array {
  const rows = Buffer.alloc(HEIGHT * (1 + WIDTH * 3), 0xff)
  for (let y = 0; y < HEIGHT; y++) {
    const start = y * (1 + WIDTH * 3)
    rows[start] = 0
    for (let x = 0; x < WIDTH; x++) {
      const bar = heights[Math.floor(x / 40)] ?? 0
      if (x % 40 >= 8 && x % 40 < 32 && y >= HEIGHT - 10 - bar && y < HEIGHT - 10) {
        rows.set([0x33, 0x70, 0xff], start + 1 + x * 3)
      }
    }
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(WIDTH, 0)
  header.writeUInt32BE(HEIGHT, 4)
  header.set([8, 2, 0, 0, 0], 8)
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const framed = Buffer.alloc(body.length + 8)
  framed.writeUInt32BE(data.length, 0)
  framed.set(body, 4)
  framed.writeUInt32BE(crc32(body), body.length + 4)
  return framed
}
