import type { Language } from '../../collab/delivery.js'
import type { BlockingReason, Progress } from '../../collab/project/progress.js'
import { beginning } from './limited.js'

interface Words {
  readonly state: Readonly<Record<Progress['state'], string>>
  readonly handed: Readonly<Record<Progress['handed'][number]['stands'], (agent: string) => string>>
  readonly because: Readonly<Record<BlockingReason, string>>
  readonly told: string
  readonly join: (line: string, because: string) => string
}

const en: Words = {
  state: {
    working: 'Still working on this. The answer comes here.',
    waiting: 'This is waiting. Nothing is lost, and the answer comes here.',
    held: 'This is held until you say /run or /skip.',
    done: 'Done.',
    failed: 'This ended without an answer; what to do next stands below.',
    cancelled: 'Cancelled.',
  },
  handed: {
    'not-begun': (agent) => `${agent} has it and has not begun`,
    working: (agent) => `${agent} is working on it`,
    accepted: (agent) => `${agent} has taken it on`,
    deferred: (agent) => `${agent} has put it off`,
    refused: (agent) => `${agent} does not do it; the manager decides what comes next`,
  },
  because: {
    'worker-queued': 'its turn has not come yet',
    'worker-busy': 'busy with other work',
    'host-unreachable': 'its host cannot be reached',
    unsupported: 'it cannot be reached in a way that works here',
    dependency: 'it depends on something that is not there yet',
    'missing-input': 'an answer from you is missing',
    'state-conflict': 'its record cannot be read by this version',
    'model-failure': 'the agent failed',
    'transport-or-format': 'what it said could not be carried over',
  },
  told: 'The turn that was running was told of it; what it does not take up gets its own turn.',
  join: (line, because) => `${line}: ${because}`,
}

const zh: Words = {
  state: {
    working: '还在处理，结果会发到这里。',
    waiting: '正在等待。内容都在，结果会发到这里。',
    held: '已暂停，等你发送 /运行 或 /跳过。',
    done: '已完成。',
    failed: '没有得到结果就结束了，接下来怎么做见下方。',
    cancelled: '已取消。',
  },
  handed: {
    'not-begun': (agent) => `${agent} 已收到，还没开始`,
    working: (agent) => `${agent} 正在处理`,
    accepted: (agent) => `${agent} 已接手`,
    deferred: (agent) => `${agent} 已推迟`,
    refused: (agent) => `${agent} 不做这件事，由管理智能体决定下一步`,
  },
  because: {
    'worker-queued': '正在排队',
    'worker-busy': '正忙于别的工作',
    'host-unreachable': '所在主机连不上',
    unsupported: '这里没有能用的方式联系它',
    dependency: '依赖的东西还没有到',
    'missing-input': '还缺你的回答',
    'state-conflict': '这个版本读不了它的记录',
    'model-failure': '智能体运行失败',
    'transport-or-format': '它的内容没能传过来',
  },
  told: '已告知正在进行的一轮；若那一轮没有并入，随后单独处理。',
  join: (line, because) => `${line}：${because}`,
}

const catalogues: Readonly<Record<Language, Words>> = { en, zh }

/** What the live card says: how the request stands, and who has it. */
export function progressWords(progress: Progress, language: Language): string {
  const words = catalogues[language]
  // The reason belongs to the first sentence; what comes after it holds in any case.
  const line = (text: string, because: BlockingReason | null) =>
    because === null ? text : text.replace(/^([^.。]*)/, (first) => words.join(first, words.because[because]))
  return [
    line(words.state[progress.state], progress.because),
    ...(progress.told === true ? [words.told] : []),
    ...progress.handed.map(
      ({ agent, stands, because }) => `· ${line(words.handed[stands](beginning(agent)), because)}`,
    ),
  ].join('\n')
}
