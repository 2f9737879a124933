const steps = [
  ['Freeze', 'The branch takes nothing but fixes from here on', 'the group is told, and the pipeline says so too'],
  ['Build', 'The same commit is built on both machines', 'their digests are compared before anything is signed'],
  [
    'Try it',
    'A copy of the production data is moved first',
    'the move is timed, because that is how long the gap will be',
  ],
  ['Ask', 'Whoever is on call agrees in so many words', 'silence is not consent, and a reaction is not either'],
  [
    'Move',
    'One host takes the new version and keeps a tenth of the traffic',
    'errors, latency and queue depth stand side by side',
  ],
  ['Watch', 'For an hour nobody starts anything else', 'what is seen is written down with its time'],
  ['Widen', 'The other hosts follow one by one', 'each of them waits until the one before it is quiet'],
  ['Close', 'The old version stays on disk for a week', 'the way back is one command, and it was tried'],
] as const

/** An answer of about three messages. */
export function handbook(): string {
  const sections = Array.from({ length: 136 }, (_, at) => {
    const [name, does, so] = steps[at % steps.length] ?? steps[0]
    const round = Math.floor(at / steps.length) + 1
    return [
      `### ${at + 1}. ${name}${round === 1 ? '' : `, host ${round}`}`,
      `${does}; ${so}. If it does not hold, the release goes back one step and says why.`,
      `- **Who**: the person on call, with a deputy\n- **When**: after step ${at === 0 ? 'zero, a word in the group' : at}\n- **Proof**: a line in the log with the step and the host`,
      `\`\`\`sh\nrelease step ${at + 1} --host fra-${round} --reason "${name.toLowerCase()}"\n\`\`\``,
    ].join('\n\n')
  })
  return [
    'A release has eight steps, and each host goes through all of them. **No step begins before the one before it is proved.**',
    ...sections,
    'That is all. Whoever leaves a step out writes down which one.',
  ].join('\n\n')
}

/** An answer of more than eight messages: it goes out as a report, its beginning in the chat. */
export function report(): string {
  const days = Array.from({ length: 30 }, (_, day) => {
    const rows = Array.from({ length: 240 }, (_, at) => {
      const load = ((day * 37 + at * 11) % 100) / 100
      const state = load > 0.9 ? '需要关注' : '正常'
      return `| ${Math.floor(at / 10)}:00 | fra-${(at % 10) + 1} | ${load.toFixed(2)} | ${(day * 13 + at * 7) % 9} | ${state} |`
    })
    return [
      `## 11 月 ${day + 1} 日`,
      `当天共处理 ${12_000 + ((day * 731) % 4_000)} 个请求，没有一条消息丢失；最长的回执用了 ${180 + ((day * 53) % 300)} 毫秒。`,
      ['| 时间 | 主机 | 负载 | 重启 | 结论 |', '| ---: | :--- | ---: | ---: | :--- |', ...rows].join('\n'),
      '```sh\nlark-manager doctor --json | jq .rows\n```',
      `值班人员在 ${(day % 12) + 8}:00 查看过一次，并在记录里写下了原因。${'当天的备份已恢复验证，摘要一致。'.repeat(6)}`,
    ].join('\n\n')
  })
  return [
    '# 十一月运行报告',
    '**结论：服务全月可用，没有丢失消息。** 有两件事需要您决定：',
    '1. `fra-2` 的磁盘将在十二月中旬用完，建议扩容到 1 TB。\n2. 存储费用上涨 29.8 %，原因是备份保留了 90 天。',
    '> 其余数字都在目标之内，逐日明细见下文。',
    ...days,
  ].join('\n\n')
}
