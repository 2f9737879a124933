/** An axis of values: where it begins and ends, and the numbers on it. */
export interface Scale {
  readonly low: number
  readonly high: number
  readonly ticks: readonly { readonly value: number; readonly label: string }[]
}

/** Lines between the ticks at most. */
const STEPS = 5
/** Values that differ by less, of their own size or at all, lie on one line of the axis. */
const SAME = 1e-6
const LEAST = 1e-9

/** Round numbers around the data. `fromZero` for bars: a bar that does not begin at zero tells a lie with its length. */
export function scaleOf(values: readonly number[], fromZero: boolean): Scale {
  const least = Math.min(...values, ...(fromZero ? [0] : []))
  const most = Math.max(...values, ...(fromZero ? [0] : []))
  const size = Math.max(Math.abs(least), Math.abs(most))
  const isFlat = most - least < Math.max(size * SAME, LEAST)
  const step = roundStep((isFlat ? (size < LEAST ? 1 : size) : most - least) / STEPS)
  const from = Math.floor(least / step)
  const to = Math.max(Math.ceil(most / step), from + 1)
  const ticks = Array.from({ length: to - from + 1 }, (_, n) => {
    const value = (from + n) * step
    return { value, label: numberLabel(value, step) }
  })
  return { low: from * step, high: to * step, ticks }
}

/** 1, 2 or 5 times a power of ten, at least `size`. */
function roundStep(size: number): number {
  const power = 10 ** Math.floor(Math.log10(size))
  const factor = [1, 2, 5, 10].find((each) => each * power >= size * (1 - 1e-9)) ?? 10
  return factor * power
}

/** As many digits as it takes to tell a step from the next. */
function numberLabel(value: number, step: number): string {
  const size = Math.abs(value)
  if (size < step / 2) return '0'
  const stepPower = Math.floor(Math.log10(step) + 1e-9)
  const power = Math.floor(Math.log10(size) + 1e-9)
  if (power >= 7 || stepPower <= -5) return value.toExponential(Math.max(power - stepPower, 0)).replace('e+', 'e')
  const [whole = '', part] = value.toFixed(Math.max(-stepPower, 0)).split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ' ')
  return part === undefined ? grouped : `${grouped}.${part}`
}
