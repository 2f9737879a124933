/** The one style sheet; served as /assets/style.css. Phone width first, light and dark, nothing from outside. */
export const styleSheet = `
:root {
  color-scheme: light dark;
  --bg: #f6f6f3; --surface: #ffffff; --ink: #1d2125; --muted: #5d666f; --line: #e2e2dc; --accent: #1a5fb4;
  --accent-ink: #ffffff; --good: #1c6b3c; --good-bg: #e3f2e8; --warn: #7d4b00; --warn-bg: #fbefd6; --bad: #a02222;
  --bad-bg: #fbe6e4; --calm-bg: #eceef0; --mine: #dcebfb; --code-bg: #f1f1ed; --shadow: 0 1px 2px rgba(20, 24, 28, .06);
}
@media (prefers-color-scheme: dark) {
  :root {
    --bg: #15171a; --surface: #1d2024; --ink: #e6e8ea; --muted: #9aa4ae; --line: #32373d; --accent: #7db4f5;
    --accent-ink: #10161d; --good: #7fd6a0; --good-bg: #17301f; --warn: #f0c275; --warn-bg: #33270f; --bad: #f39a93;
    --bad-bg: #3a1b1a; --calm-bg: #2a2f35; --mine: #20344b; --code-bg: #24282d; --shadow: none;
  }
}
*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--bg); color: var(--ink); overflow-wrap: anywhere;
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", "PingFang SC", "Noto Sans CJK SC", "Microsoft YaHei", sans-serif;
}
a { color: var(--accent); text-underline-offset: 3px; }
a:focus-visible, button:focus-visible, input:focus-visible, textarea:focus-visible, select:focus-visible, summary:focus-visible {
  outline: 2px solid var(--accent); outline-offset: 2px;
}
h1 { font-size: 1.35rem; line-height: 1.3; margin: 0 0 .25rem; letter-spacing: -.01em; }
h2 { font-size: 1rem; margin: 2rem 0 .6rem; }
p { margin: .4rem 0; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 1rem; top: .5rem; background: var(--surface); padding: .4rem .8rem; z-index: 9; }
.top {
  display: flex; align-items: center; gap: .2rem .5rem; padding: .45rem .8rem; min-width: 0;
  background: var(--surface); border-bottom: 1px solid var(--line);
}
.top .name { display: flex; align-items: center; gap: .5rem; font-weight: 650; color: var(--ink); text-decoration: none; }
.top .name img { width: 1.7rem; height: 1.7rem; }
.top .name span { display: none; }
.top nav { display: flex; flex: 1; min-width: 0; }
.top nav a, .top button { white-space: nowrap; }
.top nav a { color: var(--muted); text-decoration: none; padding: .3rem .5rem; border-radius: 6px; }
@media (min-width: 30rem) {
  .top { padding: .5rem 1rem; gap: .2rem .9rem; }
  .top .name span { display: inline; }
  .top nav { gap: .2rem; }
}
.top nav a:hover { color: var(--ink); background: var(--calm-bg); }
.top nav a[aria-current] { color: var(--ink); background: var(--calm-bg); font-weight: 600; }
.top form { margin: 0; }
main { max-width: 54rem; margin: 0 auto; padding: 1.2rem 1rem 4rem; }
.muted { color: var(--muted); }
.tone-bad { color: var(--bad); }
.tone-warn { color: var(--warn); }
.icon { width: 1.15em; height: 1.15em; vertical-align: -.2em; fill: none; stroke: currentColor; stroke-width: 1.8; stroke-linecap: round; stroke-linejoin: round; }
.small { font-size: .875rem; }
.mono { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: .86em; }
.card { background: var(--surface); border: 1px solid var(--line); border-radius: 10px; padding: .9rem 1rem; box-shadow: var(--shadow); }
.card + .card { margin-top: .7rem; }
.badge {
  display: inline-block; padding: .05rem .55rem; border-radius: 999px; font-size: .8rem; font-weight: 600;
  background: var(--calm-bg); color: var(--ink); white-space: nowrap;
}
.badge.good { background: var(--good-bg); color: var(--good); }
.badge.warn { background: var(--warn-bg); color: var(--warn); }
.badge.bad { background: var(--bad-bg); color: var(--bad); }
.filters { display: flex; flex-wrap: wrap; gap: .4rem; margin: .9rem 0 1rem; padding: 0; list-style: none; }
.filters a { display: inline-block; padding: .25rem .75rem; border-radius: 999px; border: 1px solid var(--line); text-decoration: none; color: var(--muted); background: var(--surface); }
.filters a[aria-current] { color: var(--accent-ink); background: var(--accent); border-color: var(--accent); }
.list { list-style: none; margin: 0; padding: 0; }
.list li { background: var(--surface); border: 1px solid var(--line); border-radius: 10px; box-shadow: var(--shadow); margin-bottom: .55rem; }
.list a.row { display: block; padding: .75rem 1rem; color: inherit; text-decoration: none; border-radius: 10px; }
.list a.row:hover { background: var(--calm-bg); }
.list .asked { display: block; font-weight: 600; margin: .2rem 0; overflow: hidden; display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical; }
.facts { display: flex; flex-wrap: wrap; gap: .15rem .8rem; }
.axes { display: grid; grid-template-columns: 1fr 1fr; gap: .5rem; margin: 1rem 0 0; }
@media (min-width: 60rem) { .axes { grid-template-columns: repeat(4, 1fr); } }
.axes div { background: var(--surface); border: 1px solid var(--line); border-radius: 10px; padding: .6rem .8rem; }
.axes dt { color: var(--muted); font-size: .8rem; }
.axes dd { margin: .1rem 0 0; font-weight: 600; }
dl.axes { margin-bottom: 0; }
.next { border-left: 3px solid var(--accent); padding: .3rem .8rem; margin: 1rem 0 0; background: var(--surface); border-radius: 0 8px 8px 0; }
.next.bad { border-color: var(--bad); }
.said { white-space: pre-wrap; margin: 0; }
.said.long { max-height: 32rem; overflow: auto; }
.timeline { list-style: none; margin: 0; padding: 0 0 0 1.1rem; border-left: 2px solid var(--line); }
.timeline li { position: relative; padding: 0 0 .8rem .4rem; }
.timeline li::before { content: ""; position: absolute; left: -1.55rem; top: .45rem; width: .7rem; height: .7rem; border-radius: 50%; background: var(--surface); border: 2px solid var(--muted); }
.timeline li.good::before { border-color: var(--good); background: var(--good); }
.timeline li.bad::before { border-color: var(--bad); background: var(--bad); }
.parts { width: 100%; border-collapse: collapse; font-size: .92rem; }
.parts th { text-align: left; font-weight: 500; color: var(--muted); font-size: .8rem; padding: .2rem .6rem .2rem 0; }
.parts th, .parts td { overflow-wrap: normal; }
.parts td { border-top: 1px solid var(--line); padding: .4rem .6rem .4rem 0; vertical-align: top; }
.acts { display: flex; flex-wrap: wrap; gap: .5rem; margin-top: .7rem; align-items: center; }
.acts form { margin: 0; }
.acts details[open] { flex-basis: 100%; order: 1; }
.acts summary.button { list-style: none; color: var(--ink); }
.acts summary.button::-webkit-details-marker { display: none; }
button, .button {
  font: inherit; font-size: .95rem; padding: .4rem .9rem; min-height: 2.4rem; border-radius: 8px; border: 1px solid var(--line);
  background: var(--surface); color: var(--ink); cursor: pointer; text-decoration: none; display: inline-block;
}
button:hover { border-color: var(--muted); }
button.main { background: var(--accent); border-color: var(--accent); color: var(--accent-ink); font-weight: 600; }
button.plain { border-color: transparent; background: none; color: var(--muted); padding: .3rem .5rem; }
button.danger { color: var(--bad); }
button:disabled { opacity: .5; cursor: default; }
input[type=text], input[type=password], textarea, select {
  font: inherit; width: 100%; padding: .5rem .7rem; border-radius: 8px; border: 1px solid var(--line); background: var(--surface); color: var(--ink);
}
textarea { min-height: 5rem; resize: vertical; }
label { display: block; margin: .6rem 0 .25rem; }
details > summary { cursor: pointer; color: var(--muted); }
details[open] > summary { margin-bottom: .6rem; }
.note { border-radius: 8px; padding: .6rem .9rem; margin: .8rem 0; background: var(--calm-bg); }
.note.bad { background: var(--bad-bg); color: var(--bad); }
.note.good { background: var(--good-bg); color: var(--good); }
.empty { text-align: center; padding: 3rem 1rem; color: var(--muted); }
.narrow { max-width: 24rem; margin: 8vh auto 0; }
.pager { margin-top: 1rem; text-align: center; }
.prose { overflow-wrap: anywhere; }
.prose > :first-child { margin-top: 0; }
.prose > :last-child { margin-bottom: 0; }
.prose pre, pre.code { overflow-x: auto; background: var(--code-bg); border-radius: 8px; padding: .7rem .85rem; font-size: .86rem; line-height: 1.45; }
.prose code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: .88em; background: var(--code-bg); border-radius: 4px; padding: .05em .3em; }
.prose pre code { background: none; padding: 0; font-size: inherit; }
.prose table { border-collapse: collapse; font-size: .92rem; }
/* A shade at the side on which there is more. */
.scroll {
  overflow-x: auto; max-width: 100%;
  background:
    linear-gradient(to right, var(--surface) 60%, transparent) left / 2rem calc(100% + 4px) no-repeat local,
    linear-gradient(to left, var(--surface) 60%, transparent) right / 2rem calc(100% + 4px) no-repeat local,
    linear-gradient(to right, var(--line), transparent) left / .8rem calc(100% - 4px) no-repeat scroll,
    linear-gradient(to left, var(--line), transparent) right / .8rem calc(100% - 4px) no-repeat scroll;
}
.prose .scroll { margin: .6rem 0; }
.prose th, .prose td { border: 1px solid var(--line); padding: .35rem .7rem; text-align: start; overflow-wrap: normal; }
.prose th { background: var(--code-bg); font-weight: 600; white-space: nowrap; }
@media (max-width: 30rem) { .prose th, .prose td { padding: .3rem .5rem; } }
/* Each paragraph in the direction of its own script. */
.prose p, .prose li, .prose th, .prose td, .prose h1, .prose h2, .prose h3, .prose h4, .prose h5, .prose h6, .said { unicode-bidi: plaintext; }
.prose .code-block { margin: .6rem 0; border-radius: 8px; background: var(--code-bg); }
.prose .code-block > .lang { display: block; padding: .4rem .85rem 0; font-size: .75rem; line-height: 1; color: var(--muted); }
.prose .code-block > pre { margin: 0; }
.prose .code-block > .lang + pre { padding-top: .4rem; }
.prose .center { text-align: center; }
.prose .right { text-align: right; }
.prose td.right { white-space: nowrap; }
.prose blockquote { margin: .5rem 0; padding-left: .8rem; border-left: 3px solid var(--line); color: var(--muted); }
.prose img { max-width: 100%; border-radius: 8px; }
.prose h1, .prose h2, .prose h3, .prose h4, .prose h5, .prose h6 { font-size: 1rem; line-height: 1.4; margin: 1rem 0 .3rem; }
.prose h1, .prose h2, .prose h3 { font-size: 1.15rem; }
.prose h4 { font-size: 1.08rem; }
.prose li.task { list-style: none; margin-left: -1.2rem; }
.prose ul, .prose ol { padding-left: 1.3rem; margin: .4rem 0; }
.prose ul { list-style: disc; }
.prose ol { padding-left: 2.4rem; }
.prose p { margin: .5rem 0; }
.prose hr { border: 0; border-top: 1px solid var(--line); margin: .8rem 0; }
`
