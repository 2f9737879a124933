import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './kit/longest-first.js'

const root = fileURLToPath(new URL('..', import.meta.url))

export default defineConfig({
  root,
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        root,
        test: {
          name: 'pure',
          include: ['test/**/*.test.{ts,tsx}'],
          exclude: ['test/**/*.pg.test.{ts,tsx}', 'test/**/*.live.test.{ts,tsx}', '**/node_modules/**'],
          maxWorkers: 2,
          testTimeout: 20_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        root,
        test: {
          name: 'pg',
          include: ['test/**/*.pg.test.{ts,tsx}'],
          globalSetup: ['test/kit/pg-setup.ts'],
          setupFiles: ['test/kit/stuck.ts'],
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
})
