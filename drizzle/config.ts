import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'postgresql',
  schema: ['./src/stores/schema.ts', './src/stores/*/tables.ts', './src/work/*/tables.ts'],
  out: './drizzle',
  casing: 'snake_case',
})
