import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { IsTrustedProxy } from "../request/client-address.ts";

/** The console's colours and measures, inlined because the page loads no other file. */
export const style = `:root{color-scheme:light dark;font:15px/1.55 system-ui,sans-serif;background:light-dark(#fbfbfa,#131413);color:light-dark(#1a1c1a,#ecedea)}
body{max-width:46rem;margin:0 auto;padding:clamp(1.5rem,6vw,4rem) 1rem;overflow-wrap:break-word}
header{display:flex;align-items:center;justify-content:space-between;gap:1rem;margin-bottom:2rem}
.brand{display:flex;align-items:center;gap:.6rem;font-weight:600}
.brand svg{color:#126b52}
h1{font-size:1.75rem;line-height:1.25;letter-spacing:-.015em;margin:0 0 2rem;max-width:26ch}
h2{font-size:1rem;margin:2.25rem 0 .5rem}
p{margin:.5rem 0}
a{color:inherit;text-decoration-color:light-dark(#83857f,#7d807a);text-underline-offset:3px}
a:hover{color:light-dark(#0f6a50,#5fcfa8)}
:focus-visible{outline:2px solid light-dark(#1d62c9,#8ab6ff);outline-offset:2px}
header a{padding:.4rem .9rem;border-radius:6px;background:light-dark(#1a1c1a,#ecedea);color:light-dark(#fff,#131413);font-weight:500;text-decoration:none}
header a:hover{color:light-dark(#fff,#131413)}
.wide,pre{overflow-x:auto;border:1px solid light-dark(#e4e4e0,#2d2f2d);border-radius:8px;background:light-dark(#fff,#1b1c1b)}
table{border-collapse:collapse;width:100%}
th,td{padding:.55rem 1rem;text-align:left;border-bottom:1px solid light-dark(#e4e4e0,#2d2f2d);white-space:nowrap}
th{font-size:.8rem;font-weight:450;color:light-dark(#5c605b,#a3a8a1)}
tr:last-child td{border-bottom:0}
td+td,th+th{text-align:right;font-variant-numeric:tabular-nums}
pre{padding:1rem;margin:.75rem 0;font-size:.85rem;line-height:1.6}
.small,footer{font-size:.85rem;color:light-dark(#5c605b,#a3a8a1)}
footer{margin-top:2.5rem}`;

/** The brand's mark. */
export const mark = `<svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true"><rect width="32" height="32" rx="8" fill="currentColor"/><path d="M9 8v17M9 12.5 24 8.500" fill="none" stroke="#fff" stroke-width="3.2" stroke-linecap="round"/></svg>`;

/** What a policy needs to allow the style. */
export const styleSource = `'sha256-${hash("sha256", style, "base64")}'`;

/** Whether a request comes from a browser that wants a page. */
export function wantsPage({ headers }: Pick<IncomingMessage, "headers">): boolean {
  return /(^|,)\s*text\/html\b/i.test(headers.accept ?? "");
}

/** The base URL under which the client reached us with this request. One of our own proxies may end TLS for it. */
export function readBaseUrl({ headers, socket }: IncomingMessage, isTrustedProxy?: IsTrustedProxy): string {
  const isOurs = isTrustedProxy?.(socket.remoteAddress ?? "") ?? false;
  const isEncrypted =
    ("encrypted" in socket && socket.encrypted === true) || (isOurs && headers["x-forwarded-proto"] === "https");
  return `${isEncrypted ? "https" : "http"}://${headers.host ?? "localhost"}`;
}
