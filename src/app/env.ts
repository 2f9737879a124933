import { aliases, secretNames, settings, type SecretName, type Setting, type SettingName } from './settings.js'

/** The environment as it was at the start: the only place that reads it. */
export interface Env {
  readonly values: Readonly<Record<SettingName, string>>
  /** Which settings were set, for `doctor`. */
  readonly given: ReadonlySet<SettingName>
  readonly secrets: Readonly<Partial<Record<SecretName, string>>>
  /** What an agent process may see: nothing of ours, nothing that looks like a secret of ours. */
  readonly forAgents: Readonly<Record<string, string>>
  /** The one variable that CODEX_KEY_ENV names, for codex alone. */
  readonly forCodex: Readonly<Record<string, string>>
  /** The one variable that CLAUDE_KEY_ENV names, and its endpoint, for Claude Code alone. */
  readonly forClaude: Readonly<Record<string, string>>
  /** LARK_MANAGER_AGENT_TOKEN, of the command line alone: who it speaks for. The gateway does not read it. */
  readonly agentToken: string
  readonly searchPath: string | undefined
  readonly problems: readonly string[]
  readonly language: string
}

/** Passed on to agents: where programs and the user's own configuration are. */
const agentNames = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LC_ALL',
  'TZ',
  'TMPDIR',
  'TERM',
  'SSH_AUTH_SOCK',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'XDG_CACHE_HOME',
  'CODEX_HOME',
  'CLAUDE_CONFIG_DIR',
  'HTTPS_PROXY',
  'HTTP_PROXY',
  'NO_PROXY',
]

export function readEnv(source: NodeJS.ProcessEnv = process.env): Env {
  const problems: string[] = []
  const given = new Set<SettingName>()
  const values = {} as Record<SettingName, string>
  for (const [name, setting] of Object.entries(settings) as [SettingName, Setting][]) {
    const value = valueOf(setting, source, problems)
    if (value !== undefined) given.add(name)
    values[name] = value ?? String(setting.fallback)
  }
  const secrets: Partial<Record<SecretName, string>> = {}
  for (const name of secretNames) {
    const value = source[name]?.trim()
    if (value !== undefined && value !== '') secrets[name] = value
  }
  const forAgents: Record<string, string> = {}
  for (const name of agentNames) {
    const value = source[name]
    if (value !== undefined) forAgents[name] = value
  }
  const forCodex = credentialOf('CODEX_KEY_ENV', values.codexKeyEnv, source, problems)
  const forClaude = {
    ...credentialOf('CLAUDE_KEY_ENV', values.claudeKeyEnv, source, problems),
    ...(values.claudeBaseUrl === '' ? {} : { ANTHROPIC_BASE_URL: values.claudeBaseUrl }),
  }
  const language = source['LC_ALL'] ?? source['LC_MESSAGES'] ?? source['LANG'] ?? ''
  const agentToken = source['LARK_MANAGER_AGENT_TOKEN']?.trim() ?? ''
  return {
    values,
    given,
    secrets,
    forAgents,
    forCodex,
    forClaude,
    agentToken,
    searchPath: source['PATH'],
    problems,
    language,
  }
}

/** A secret of the gateway itself is never handed on under this name either. */
function credentialOf(
  setting: 'CODEX_KEY_ENV' | 'CLAUDE_KEY_ENV',
  name: string,
  source: NodeJS.ProcessEnv,
  problems: string[],
): Readonly<Record<string, string>> {
  if (name === '') return {}
  if (!/^\w+$/.test(name) || secretNames.some((secret) => secret === name)) {
    problems.push(`${setting} must be the name of the variable that holds the key of a model provider`)
    return {}
  }
  if (setting === 'CLAUDE_KEY_ENV' && !claudeKeys.includes(name)) {
    problems.push(`CLAUDE_KEY_ENV must be one of ${claudeKeys.join(', ')}: the program reads no other`)
    return {}
  }
  const value = source[name]
  if (value === undefined || value === '') problems.push(`${setting} names ${name}, which is not set`)
  return value === undefined ? {} : { [name]: value }
}

const claudeKeys: readonly string[] = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN']

/** Nothing between the quotes is no value, as in a compose file; only a reaction is turned off by it. */
function valueOf(setting: Setting, source: NodeJS.ProcessEnv, problems: string[]): string | undefined {
  const { env } = setting
  const alias = aliases[env]
  const read = (name: string): string | undefined => {
    const value = source[name]?.trim()
    return value === '' && setting.emptyCounts !== true ? undefined : value
  }
  const own = read(env)
  const other = alias === undefined ? undefined : read(alias)
  if (own !== undefined && other !== undefined && own !== other) {
    problems.push(`${env} and ${alias} are set to different values: set one of them, or both to the same`)
  }
  return own ?? other
}
