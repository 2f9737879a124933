/**
 * What a REST call answers. `code` is kept beside the response for the counters and the fault scripts.
 * Source: error bodies are `{code, msg, error{log_id, troubleshooter}}`, most with HTTP 400.
 */
export interface Answer {
  readonly code: number
  readonly response: Response
}

/** A refusal inside a check, before it becomes a response. `detail` is appended to the platform's own sentence. */
export interface Refused {
  readonly refused: number
  readonly detail?: string
}

export function refused(code: number, detail?: string): Refused {
  return detail === undefined ? { refused: code } : { refused: code, detail }
}

export function isRefused(value: unknown): value is Refused {
  return typeof value === 'object' && value !== null && 'refused' in value
}

/** A card refusal: code 230099 whose real cause stands as `ErrCode: N` inside the sentence. */
export function cardRefused(errCode: number, message: string, value = ''): Refused {
  return refused(230099, `ext=ErrCode: ${errCode}; ErrMsg: ${message}; ErrorValue: ${value}; `)
}

const sentences: Readonly<Record<number, string>> = {
  10003: 'invalid param',
  200740: 'The card does not exist.',
  200750: 'The card has expired.',
  200770: 'The uuid was used before with other content.',
  200850: 'The streaming mode of the card has timed out.',
  200860: 'The card is too large.',
  230001: 'Your request contains an invalid request parameter.',
  230002: 'The bot can not be outside the group.',
  230009: 'The message can no longer be recalled.',
  230011: 'The message was withdrawn.',
  230012: 'The operator is not the sender of the message.',
  230013: 'Bot has NO availability to this user.',
  230017: 'Bot is NOT the owner of the resource.',
  230019: 'The topic does NOT exist.',
  230020: 'This operation triggers the frequency limit.',
  230025: 'The length of the message content reaches its limit.',
  230026: 'No permission to recall this message.',
  230031: 'The card message is too old to be updated.',
  230034: 'The receive_id is invalid.',
  230049: 'The message is being sent.',
  230054: 'This operation is not supported for this message type.',
  230055: 'The type of file upload does not match the type of message being sent.',
  230071: 'This operation is not allowed here.',
  230072: 'The message has reached the number of times it can be edited.',
  230073: 'The thread is invisible to the operator.',
  230099: 'Failed to create card content,',
  230110: 'Action unavailable as the message has been deleted.',
  231001: 'reaction type is invalid.',
  231002: 'The operator can not react on the message.',
  231003: 'The message is not found or has been recalled.',
  231007: 'The operator is not the one who added the reaction.',
  231010: 'The reaction does not belong to this message.',
  231011: 'The reaction id is invalid.',
  231017: 'This message type does not support reactions.',
  232006: 'Your request specifies a chat_id which is invalid.',
  232009: 'Your request specifies a chat which has already been dissolved.',
  234001: 'Invalid request param.',
  234003: 'File not in msg.',
  234004: 'App not in chat.',
  234006: 'The file size exceed the max value.',
  234008: 'The app is not the resource sender.',
  234010: "File's size can't be 0.",
  234011: "Can't recognize the image format.",
  234037: 'Downloaded file size exceeds limit.',
  234039: 'The image resolution exceeds the limit.',
  234043: 'Unsupported message type.',
  300307: 'The content is empty.',
  300309: 'The streaming mode of the card is closed.',
  300310: 'The element does not support streaming text.',
  300313: 'The element does not exist.',
  300317: 'The sequence is not greater than the one before.',
  99991400: 'request trigger frequency limit',
  99991543: 'app id or app secret is wrong',
  99991661: 'Missing access token for authorization. Please make a request with token attached.',
  99991663: 'Invalid access token for authorization. Please make a request with token attached.',
  99991671: 'Invalid access token format: it must start with "t-" or "u-".',
  99991672: 'Access denied. The application lacks a required scope.',
  99992351: 'The request contains an invalid open_id.',
  99992354: 'The request contains an invalid message id.',
  99992402: 'field validation failed',
}

const json = (status: number, body: object, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  })

export function succeed(data: object, logId: string): Answer {
  return { code: 0, response: json(200, { code: 0, msg: 'success', data }, { 'x-tt-logid': logId }) }
}

/** For the few old calls whose fields stand beside `code` instead of under `data`. */
export function succeedFlat(fields: object): Answer {
  return { code: 0, response: json(200, { code: 0, msg: 'ok', ...fields }) }
}

export function refuse({ refused: code, detail }: Refused, logId: string, status = 400): Answer {
  const sentence = sentences[code] ?? 'The request was refused.'
  const msg = detail === undefined ? sentence : `${sentence} ${detail}`
  const troubleshooter = `Troubleshooting suggestions: https://open.feishu.cn/search?from=openapi&log_id=${logId}&code=${code}`
  const body = { code, msg, error: { log_id: logId, troubleshooter } }
  return { code, response: json(status, body, { 'x-tt-logid': logId }) }
}

/** The gateway's own limit: HTTP 429, code 99991400, the wait in whole seconds in a header (null: without one). */
export function rateLimited(limit: number, resetSeconds: number | null, logId: string): Answer {
  const headers = {
    'x-ogw-ratelimit-limit': String(limit),
    ...(resetSeconds === null ? {} : { 'x-ogw-ratelimit-reset': String(resetSeconds) }),
    'x-tt-logid': logId,
  }
  return { code: 99991400, response: json(429, { code: 99991400, msg: sentences[99991400] }, headers) }
}

/** Token refusals are read out of an HTTP 200 body: the SDK then throws a plain error that names the code. */
export function refuseFlat(code: number, msg?: string): Answer {
  return { code, response: json(200, { code, msg: msg ?? sentences[code] ?? 'refused' }) }
}

/** Discovery answers HTTP 200 whatever its code. */
export function discovered(body: { readonly code: number; readonly msg: string; readonly data: object }): Answer {
  return { code: body.code, response: json(200, body) }
}

/** Errors carry a `data` object as well: without one the SDK cannot tell a final refusal from a passing fault. */
export function discoveryRefused(code: number, msg = 'refused'): Answer {
  return discovered({ code, msg, data: { URL: '', ClientConfig: {} } })
}
