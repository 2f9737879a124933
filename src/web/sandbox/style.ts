/** What only the chat page needs; served as /assets/chat.css. */
export const chatStyle = `
body:has(.chat) { height: 100dvh; display: flex; flex-direction: column; }
main:has(.chat) { max-width: none; width: 100%; padding: 0; flex: 1; min-height: 0; display: flex; }
.chat { flex: 1; min-width: 0; display: flex; flex-direction: column; min-height: 0; }
.rooms { display: flex; gap: .3rem; padding: .45rem .6rem; border-bottom: 1px solid var(--line); background: var(--surface); overflow-x: auto; }
.rooms a { position: relative; flex: 1 0 auto; display: flex; flex-direction: column; line-height: 1.25; padding: .35rem .8rem; border-radius: 8px; color: inherit; text-decoration: none; }
.rooms a:hover { background: var(--calm-bg); }
.rooms a[aria-current] { background: var(--mine); font-weight: 600; }
.rooms a.unread::after { content: ""; position: absolute; right: .5rem; top: .5rem; width: .55rem; height: .55rem; border-radius: 50%; background: var(--accent); }
.room { flex: 1; min-height: 0; min-width: 0; display: flex; flex-direction: column; }
.talk { flex: 1; min-height: 0; overflow-y: auto; list-style: none; margin: 0; padding: 1rem .8rem; display: flex; flex-direction: column; gap: .55rem; }
.talk > :first-child { margin-top: auto; }
.msg { display: flex; flex-direction: column; align-items: flex-start; min-width: 0; max-width: 100%; }
.msg.mine { align-items: flex-end; }
.bubble { max-width: min(46rem, 92%); min-width: 0; padding: .5rem .8rem; border-radius: 4px 14px 14px 14px; background: var(--surface); border: 1px solid var(--line); box-shadow: var(--shadow); }
.mine > .bubble { background: var(--mine); border-color: transparent; border-radius: 14px 4px 14px 14px; }
.bubble p { margin: .25rem 0; }
.bubble .by { margin: 0; display: flex; align-items: baseline; gap: .4rem; white-space: nowrap; }
.bubble .by .tools { margin-left: auto; padding-left: .6rem; display: inline-flex; }
.bubble .by .tools button { min-height: 1.7rem; padding: 0 .4rem; font-size: .8rem; }
.bubble .quote { border-left: 2px solid var(--line); padding-left: .5rem; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; max-width: 32rem; }
.bubble .under { display: flex; flex-wrap: wrap; gap: .1rem .35rem; align-items: center; margin: .15rem 0 0; }
.bubble .under:empty { display: none; }
.bubble .card-title { font-weight: 650; }
.bubble hr { border: 0; border-top: 1px solid var(--line); margin: .6rem 0; }
.bubble img { max-width: 100%; max-height: 22rem; border-radius: 8px; display: block; }
.bubble .choice { margin: .15rem .45rem .15rem 0; }
.bubble .choice.usual { background: var(--accent); border-color: var(--accent); color: var(--accent-ink); font-weight: 600; }
.toast { margin: 0 .8rem .5rem; padding: .45rem .8rem; border-radius: 8px; background: var(--calm-bg); }
.toast[data-tone=success] { background: var(--good-bg); color: var(--good); }
.toast[data-tone=warning], .toast[data-tone=error] { background: var(--bad-bg); color: var(--bad); }
.bubble .file a { display: inline-flex; gap: .4rem; align-items: center; padding: .4rem .7rem; border: 1px solid var(--line); border-radius: 8px; text-decoration: none; background: var(--bg); }
.reaction { display: inline-block; padding: .05rem .55rem; border-radius: 999px; background: var(--good-bg); color: var(--good); font-weight: 600; }
.reaction[data-emoji=CrossMark] { background: var(--bad-bg); color: var(--bad); }
.thread { list-style: none; margin: .4rem 0 0 .7rem; padding: 0 0 0 .7rem; border-left: 2px solid var(--line); display: flex; flex-direction: column; gap: .4rem; align-self: stretch; min-width: 0; }
@media (prefers-reduced-motion: no-preference) {
  .new > .bubble { animation: arrive .22s ease-out; }
  .changed .reaction { animation: arrive .22s ease-out; }
  @keyframes arrive { from { opacity: 0; transform: translateY(6px); } }
}
.say { margin: 0; border-top: 1px solid var(--line); background: var(--surface); padding: .6rem .8rem .7rem; }
.say textarea { min-height: 2.9rem; max-height: 40dvh; resize: none; }
.say .acts { margin-top: .45rem; gap: .45rem .8rem; }
.say .acts button.main { margin-left: auto; }
.say .note, .say .reply { margin: 0 0 .4rem; }
.say .reply { color: var(--muted); }
label.inline { display: inline-flex; gap: .4rem; align-items: center; margin: 0; }
label.inline > .muted { display: none; }
label.inline select { width: auto; padding: .3rem .5rem; }
label.button { margin: 0; position: relative; overflow: hidden; }
label.button input { position: absolute; inset: 0; opacity: 0; cursor: pointer; font-size: 5rem; }
label.button:focus-within { outline: 2px solid var(--accent); outline-offset: 2px; }
.hidden-text { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.hints { padding: .4rem .8rem; border-top: 1px solid var(--line); max-height: 38dvh; overflow-y: auto; }
.hints { display: flex; flex-wrap: wrap; gap: .1rem 1.2rem; }
.hints details[open] { flex-basis: 100%; }
.hints .about { display: none; }
.hints ul { list-style: none; margin: 0; padding: 0; }
.hints li { padding: .15rem 0; }
.hints li button { display: block; color: var(--accent); padding: .1rem 0; min-height: 1.8rem; text-align: left; }
.hints li span { display: block; }
@media (min-width: 60rem) {
  .chat { display: grid; grid-template: minmax(0, 1fr) / 13rem minmax(0, 1fr) 17rem; }
  .rooms { flex-direction: column; border-bottom: 0; border-right: 1px solid var(--line); overflow: visible; padding: .8rem .6rem; }
  .rooms a { flex: none; }
  label.inline > .muted { display: inline; }
  .talk { padding: 1.2rem 1.6rem; }
  .say { padding: .8rem 1.6rem 1rem; }
  .hints .about { display: block; }
  .hints { display: block; border-top: 0; border-left: 1px solid var(--line); max-height: none; padding: 1rem; }
}
`
