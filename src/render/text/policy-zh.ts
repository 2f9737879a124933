import type { ChatPolicy, StartRefusal } from '../../collab/chat-policy.js'
import { quietHoursText } from '../../collab/quiet-hours.js'
import { beginning } from './limited.js'
import type { PolicyCatalogue } from './policy.js'

/** What is said about who may start work where. */
export const policyZh: PolicyCatalogue = {
  'start-refused': ({ because }) => refusals[because],
  'operate-owner-only': () => '在这里只有所有者可以使用控制命令。没有任何改变。你可以用普通的话告诉我需要做什么。',
  'authority-gone': () =>
    '这件事在排队期间，提出它的人失去了在这里启动工作的权限，因此不会执行。所有者可以自己提出，或用 /聊天 开放。',
  'admission-asked': ({ openId, chatId, direct, words }) =>
    [
      direct
        ? `${openId} 私聊了我，但没有启动工作的权限。`
        : `${openId} 在群聊 ${chatId} 中提到了我，但没有在那里启动工作的权限。`,
      words === '' ? '' : `对方写道：“${beginning(words)}”`,
      '是否允许？对方提出的工作以受限权限执行，只能看到那个聊天；停止、设置和许可仍只归你。“一周”在 7 天或 10 次请求后结束。拒绝后 30 天内不再询问此人。',
    ]
      .filter((line) => line !== '')
      .join('\n'),
  'admission-given': ({ openId, chatId, starts, days }) =>
    `${openId} 现在可以${chatId === null ? '在所有向成员开放的聊天中' : `在群聊 ${chatId} 中`}启动工作${days === null ? '' : `，为期 ${days} 天${starts === null ? '' : `或 ${starts} 次请求`}`}。${chatId === null ? '在这里' : '在那里'}发送 /聊天 移除=${openId} 可收回。此前写下的内容不会启动。`,
  'admission-refused': ({ openId, days }) => `已拒绝。${openId} 不会启动任何事情，${days} 天内不再询问此人。`,
  'chat-policy': ({ everywhere, policy, ref, readable, isolated, members, setBy, changed }) =>
    [
      `${changed ? '已设置。' : ''}${everywhere ? '适用于没有另行设置的所有聊天' : '这个聊天的设置'}（第 ${everywhere ? ref.everywhere : ref.chat} 版${setBy === null ? '' : `，由 ${setBy} 设置`}）：`,
      ...(readable ? [] : ['有一项设置无法读取，因此在重新设置之前只有所有者可以启动工作。']),
      `谁=${who[policy.who][0]} · ${who[policy.who][1]}${policy.who === 'members' ? `（${members} 人）` : ''}`,
      ...(policy.who === 'members' || policy.who === 'humans'
        ? [isolated ? '他们的工作以受限权限执行。' : '这里还不能把他们的工作隔离开，因此只有所有者可以启动工作。']
        : []),
      `提及=${policy.mention === 'required' ? '开' : '关'} · ${policy.mention === 'required' ? '需要提到我' : '不需要提到我'}`,
      `全员=${onOff(policy.atAll)} · @所有人${policy.atAll ? '等于提到我' : '不算提到我'}`,
      `机器人=${onOff(policy.bots)} · 其他机器人${policy.bots ? '可以以所有者的名义提问' : '不会启动任何事情'}`,
      `回复=${policy.returns === 'reply' ? '引用' : '直接'} · ${policy.returns === 'reply' ? '回答引用原消息' : '回答单独发送'}`,
      `免打扰=${policy.quiet === null ? '关' : quietHoursText(policy.quiet)} · ${policy.quiet === null ? '没有免打扰时段' : '期间只有提到我的所有者可以启动工作'}`,
      `语言=${policy.language === null ? '自动 · 跟随最近一条消息的语言' : policy.language === 'zh' ? '中文 · 我用中文说话' : '英文 · 我用英文说话'}`,
      `所有者=${ownerWork[policy.ownerWork][0]} · ${ownerWork[policy.ownerWork][1]}`,
      '修改示例：/聊天 谁=所有者|成员|所有人|无人 提及=开|关 …',
    ].join('\n'),
  'chat-command-wrong': ({ wrong }) =>
    `无法读取“${beginning(wrong)}”，因此没有任何改变。发送 /聊天 查看设置，例如：/聊天 谁=成员 免打扰=22:00-08:00@Asia/Shanghai`,
  'chat-policy-refused': ({ because }) =>
    because === 'policy-not-isolated'
      ? '没有修改：这里还不能把所有者以外的人的工作隔离开，因此其他人不能启动工作。/聊天 的其他设置都可用。'
      : '没有修改：刚才有人同时修改了设置。发送 /聊天 查看现在的设置。',
  'member-removed': ({ openId, count }) =>
    count === 0
      ? `${openId} 没有在这里被单独允许，因此没有任何改变。`
      : `${openId} 不再能在这里启动工作，其排队中的内容也不会执行。`,
}

const onOff = (on: boolean): string => (on ? '开' : '关')

const who: Readonly<Record<ChatPolicy['who'], readonly [string, string]>> = {
  owner: ['所有者', '只有所有者可以启动工作'],
  members: ['成员', '所有者和所有者允许的人可以启动工作'],
  humans: ['所有人', '所有者所在企业的每个人都可以启动工作'],
  nobody: ['无人', '没有人可以启动工作，所有者也不能；所有者的控制命令仍有效'],
}

const ownerWork: Readonly<Record<ChatPolicy['ownerWork'], readonly [string, string]>> = {
  restricted: ['受限', '你在这里的工作以受限权限执行'],
  'private-return': ['私下', '你在这里的工作与私聊中相同，回答发到私聊'],
  owner: ['完整', '你在这里的工作与私聊中相同，这里的每个人都能看到回答'],
}

const refusals: Readonly<Record<StartRefusal, string>> = {
  'not-addressed': '你的这条消息不会启动任何事情。',
  'owner-only': '在这里，我只为所有者开始工作。你的这条消息不会启动任何事情。',
  nobody: '目前我不在这个聊天中启动工作。所有者可以用 /聊天 修改。',
  'not-a-member': '在这里，我只为所有者允许的人开始工作。你的这条消息不会启动任何事情。',
  'membership-ended': '你在这里启动工作的权限已结束，这条消息不会启动任何事情。所有者可以重新允许。',
  'membership-used-up': '所有者给你的请求次数已用完，这条消息不会启动任何事情。所有者可以再给。',
  'other-tenant': '在这里，我只为所有者所在的企业开始工作。你的这条消息不会启动任何事情；所有者可以单独允许你。',
  'tenant-unknown': '平台没有说明你属于哪个企业，因此这条消息不会启动任何事情。所有者可以单独允许你。',
  'bots-closed': '其他机器人的消息在这里不会启动任何事情。所有者可以用 /聊天 修改。',
  'quiet-hours': '现在是这里的免打扰时段，这条消息不会启动任何事情。请在时段结束后提出；所有者可以用 /聊天 查看时段。',
  'not-isolated': '这里还不能把所有者以外的人的工作隔离开，因此这条消息不会启动任何事情。可以请所有者提出。',
}
