/** Reaction names the platform accepts, case-sensitive. Source: message-reaction/emojis-introduce, the part we rely on. */
export const emojiNames: ReadonlySet<string> = new Set(
  [
    'Get OK THUMBSUP LGTM Yes SALUTE',
    'Typing OnIt OneSecond THINKING STRIVE',
    'DONE CheckMark Hundred PARTY CLAP APPLAUSE Fire Trophy',
    'CrossMark ERROR No ThumbsDown FACEPALM MinusOne BOMB HEARTBROKEN',
    'Alarm Pin Coffee GoGoGo Shrug',
  ].flatMap((line) => line.split(' ')),
)
