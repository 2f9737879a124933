import type postgres from 'postgres'

/** What Postgres would do for one statement: the tables that it reads whole, and the indexes that it goes by. */
export interface Plan {
  readonly wholeTables: readonly string[]
  readonly indexes: readonly string[]
}

interface Node {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly Plans?: readonly Node[]
}

/**
 * The same client, which asks for the plan of each statement before it runs it: what is explained is what the code
 * says, with its own parameters, and no copy of it.
 */
export function explained(sql: postgres.Sql): { readonly sql: postgres.Sql; readonly plans: readonly Plan[] } {
  const plans: Plan[] = []
  const explain = async (target: postgres.Sql, strings: TemplateStringsArray, values: readonly unknown[]) => {
    const [first = '', ...rest] = strings
    const words = Object.assign([`explain (format json) ${first}`, ...rest], { raw: strings.raw })
    const [row] = await Reflect.apply(target as unknown as AnyQuery, null, [words, ...values])
    const said = row?.['QUERY PLAN'] as readonly { readonly Plan: Node }[] | undefined
    plans.push(planOf((said ?? []).flatMap(({ Plan: root }) => nodesOf(root))))
  }
  const asked = new Proxy(sql, {
    apply(target, self, args: [TemplateStringsArray, ...unknown[]]) {
      const query = Reflect.apply(target as unknown as AnyQuery, self, args)
      const [strings, ...values] = args
      if (!Array.isArray(strings) || !('raw' in strings)) return query
      const then = query.then.bind(query)
      // Asked only when it is awaited: a fragment inside another statement stays what it is.
      // oxlint-disable-next-line unicorn/no-thenable -- it is thenable already
      Object.defineProperty(query, 'then', {
        value: (ok: never, bad: never) =>
          explain(target, strings, values)
            .then(() => new Promise<unknown>((resolve, reject) => void then(resolve, reject)))
            .then(ok, bad),
      })
      return query
    },
  })
  return { sql: asked, plans }
}

type AnyQuery = (...args: readonly unknown[]) => Promise<readonly Record<string, unknown>[]>

const nodesOf = (node: Node): readonly Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

function planOf(nodes: readonly Node[]): Plan {
  return {
    wholeTables: nodes.flatMap((node) => (node['Node Type'] === 'Seq Scan' ? [node['Relation Name'] ?? '?'] : [])),
    indexes: nodes.flatMap((node) => node['Index Name'] ?? []),
  }
}
