import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { type Model, ModelKind } from "#gen/tollgate/catalogue/v1/model_pb.js";
import { formatRate } from "#lib/money.ts";
import { escapeHtml } from "./escape-html.ts";

/** The facts on the page beside the models. */
export interface HomeFacts {
  /** The URL that clients call, such as "https://api.example.com". */
  readonly baseUrl: string;
  /** Whether people can sign in at the same origin. */
  readonly hasSignIn: boolean;
}

/** The console's colours and measures, inlined because the page loads no other file. */
export const style = `:root{color-scheme:light dark;font:15px/1.55 system-ui,sans-serif;background:light-dark(#fbfbfa,#131413);color:light-dark(#1a1c1a,#ecedea)}
body{max-width:46rem;margin:0 auto;padding:clamp(1.5rem,6vw,4rem) 1rem}
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

/** The page's headers. The page runs no script and has one inline style. */
export const homeHeaders = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `default-src 'none'; style-src ${styleSource}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  vary: "accept",
};

/** Whether a request comes from a browser that wants a page. */
export function wantsPage({ headers }: Pick<IncomingMessage, "headers">): boolean {
  return /(^|,)\s*text\/html\b/i.test(headers.accept ?? "");
}

/** The base URL under which the client reached us with this request. */
export function readBaseUrl({ headers, socket }: IncomingMessage): string {
  const scheme = "encrypted" in socket && socket.encrypted === true ? "https" : "http";
  return `${scheme}://${headers.host ?? "localhost"}`;
}

/** The public page: the served models, their prices, and how to call them. Everybody may see it. */
export function renderHome(models: readonly Model[], { baseUrl, hasSignIn }: HomeFacts): string {
  const base = escapeHtml(baseUrl);
  const example = models.find(({ kind }) => kind === ModelKind.GENERATION)?.id ?? "MODEL";
  const messages = JSON.stringify([{ role: "user", content: "Hello" }]);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>Tollgate</title>
<style>${style}</style>
</head>
<body>
<header><span class="brand">${mark}Tollgate</span>${hasSignIn ? '<a href="/sign-in">Sign in</a>' : ""}</header>
<h1>Open models behind one key and one prepaid balance.</h1>
<h2>Models and live prices</h2>
${models.length === 0 ? "<p>No model is served at the moment.</p>" : table(models)}
<h2>How to call</h2>
<p>OpenAI-style clients use <code>${base}/v1</code>, Anthropic-style clients <code>${base}</code>, both with the same API key.</p>
<pre tabindex="0">curl ${base}/v1/chat/completions \\
  -H 'authorization: Bearer API_KEY' \\
  -d '{"model": ${escapeHtml(JSON.stringify(example))},
       "messages": ${escapeHtml(messages)}}'</pre>
<footer><a href="${base}/v1/models">Models as JSON</a> · <a href="${base}/openapi.json">OpenAPI document</a></footer>
</body>
</html>
`;
}

function table(models: readonly Model[]): string {
  const rows = models.map(
    ({ id, kind, contextLength, inputPicoUsdPerToken, outputPicoUsdPerToken }) =>
      `<tr><td>${escapeHtml(id)}</td><td>$${formatRate(inputPicoUsdPerToken)}</td><td>${
        kind === ModelKind.EMBEDDING ? "–" : `$${formatRate(outputPicoUsdPerToken)}`
      }</td><td>${contextLength.toLocaleString("en-US")}</td></tr>`,
  );
  return `<div class="wide" tabindex="0"><table>
<tr><th scope="col">Model</th><th scope="col">Input</th><th scope="col">Output</th><th scope="col">Context</th></tr>
${rows.join("\n")}
</table></div>
<p class="small">Prices in USD per 1M tokens; context in tokens.</p>`;
}
