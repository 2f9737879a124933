import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { configOf } from '../../src/app/config.js'
import { readEnv } from '../../src/app/env.js'
import { secretNames, settings } from '../../src/app/settings.js'
import { root } from './source.js'

interface Service {
  readonly environment?: Readonly<Record<string, string | number | null>>
  readonly stop_grace_period?: string
  readonly init?: boolean
  readonly command?: readonly string[]
  readonly healthcheck?: { readonly test: readonly string[] }
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly volumes?: readonly string[]
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly volumes: Readonly<Record<string, null>>
}

const text = readFileSync(join(root, 'docker-compose.yml'), 'utf8')
const { services, volumes } = parse(text) as Compose
const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8')
const known = new Set<string>([...Object.values(settings).map((setting) => setting.env), ...secretNames])

/** What a container gets from a `.env` that holds the required values only. */
function environmentOf(service: Service | undefined): Record<string, string> {
  const given = Object.entries(service?.environment ?? {}).filter(([, value]) => value !== null)
  return Object.fromEntries(
    given.map(([name, value]) => [name, String(value).replaceAll(/\$\{(\w+):\?[^}]*\}/g, '$1')]),
  )
}

describe('docker compose', () => {
  test('it starts the gateway, Postgres and Redis, the gateway last', () => {
    expect(Object.keys(services).toSorted()).toEqual(['gateway', 'postgres', 'redis'])
    expect(services['gateway']?.depends_on).toEqual({
      postgres: { condition: 'service_healthy' },
      redis: { condition: 'service_healthy' },
    })
    expect(services['postgres']?.healthcheck?.test.join(' ')).toContain('pg_isready')
    expect(services['redis']?.healthcheck?.test.join(' ')).toContain('ping')
  })

  test('a stop is longer than the one of the gateway, which takes at most 10 s', () => {
    expect(services['gateway']?.stop_grace_period).toBe('15s')
    expect(services['gateway']?.init).toBe(true)
  })

  test('Redis keeps every key, and everything that must outlive a container is in a volume', () => {
    const command = services['redis']?.command?.join(' ')
    expect(command).toContain('--maxmemory-policy noeviction')
    expect(command).toContain('--appendonly yes')
    const used = Object.values(services).flatMap((service) => (service.volumes ?? []).map((it) => it.split(':')[0]))
    expect(used.toSorted()).toEqual(Object.keys(volumes).toSorted())
  })

  test('every variable of the gateway is one that it reads', () => {
    const names = Object.keys(services['gateway']?.environment ?? {})
    expect(names.length).toBeGreaterThan(10)
    expect(names.filter((name) => !known.has(name))).toEqual([])
    expect(['MANAGER_ENDPOIN'].filter((name) => !known.has(name))).toEqual(['MANAGER_ENDPOIN'])
  })

  test('a secret stands in no file: it comes from outside, and a start without it says so', () => {
    const { POSTGRES_PASSWORD } = services['postgres']?.environment ?? {}
    expect(String(POSTGRES_PASSWORD)).toMatch(/^\$\{POSTGRES_PASSWORD:\?.+\}$/)
    for (const name of ['ADMIN_TOKEN', 'LARK_APP_ID', 'LARK_APP_SECRET']) {
      expect(String(services['gateway']?.environment?.[name])).toMatch(new RegExp(`^\\$\\{${name}:\\?.+\\}$`))
    }
    for (const name of secretNames) {
      const value = services['gateway']?.environment?.[name] ?? null
      if (value !== null && name !== 'REDIS_URL') expect(String(value), name).toContain(':?')
    }
  })

  test('what it sets is a configuration that starts', () => {
    const outcome = configOf(readEnv(environmentOf(services['gateway'])), 'all')
    expect(outcome.ok ? [] : outcome.problems).toEqual([])
    expect(outcome.ok && outcome.config.redisUrl).toBe('redis://redis:6379')
    expect(outcome.ok && outcome.config.endpoint).toBe('codex')
  })

  test('a configuration of the same kind without a token refuses to start', () => {
    const { ADMIN_TOKEN: _, ...rest } = environmentOf(services['gateway'])
    const outcome = configOf(readEnv(rest), 'all')
    expect(outcome.ok ? '' : outcome.problems.join()).toContain('ADMIN_TOKEN')
  })
})

describe('the image', () => {
  const lines = dockerfile.split('\n')
  const at = (start: string) => lines.findIndex((line) => line.trim().startsWith(start))

  test('it runs as a normal user, is watched, and holds the migrations', () => {
    expect(at('USER node')).toBeGreaterThan(at('FROM node:24-bookworm-slim AS packages'))
    expect(dockerfile).toContain('/healthz')
    expect(at('HEALTHCHECK')).toBeGreaterThan(0)
    expect(at('COPY drizzle ./drizzle')).toBeGreaterThan(0)
    expect(lines.at(-2)).toBe('CMD ["start"]')
  })

  test('no script of a package runs, and the driver is corrected before it is copied', () => {
    const installs = [...dockerfile.matchAll(/npm ci[^\n]*/g)].map(([line]) => line)
    expect(installs).toHaveLength(2)
    for (const line of installs) expect(line).toContain('--ignore-scripts')
    expect(at('&& node scripts/guard-postgres.mjs')).toBeLessThan(at('COPY --from=packages'))
  })

  test('what it copies is there', () => {
    const sources = lines
      .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
      .flatMap((line) => line.split(' ').slice(1, -1))
    expect(sources.length).toBeGreaterThan(5)
    const ignored = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n')
    for (const source of sources) {
      expect(existsSync(join(root, source)), source).toBe(true)
      expect(ignored, source).not.toContain(source.split('/')[0])
    }
  })
})
