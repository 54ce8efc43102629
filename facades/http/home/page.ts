import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { type Model, ModelKind } from "#gen/tollgate/catalogue/v1/model_pb.js";
import { usdPerMillion } from "../json/decimal.ts";
import { escapeHtml } from "./escape-html.ts";

/** What the page says beside the models. */
export interface HomeFacts {
  /** Where clients call, such as "https://api.example.com". */
  readonly baseUrl: string;
  /** Whether people can sign in at the same origin. */
  readonly hasSignIn: boolean;
}

const style = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{max-width:48rem;margin:3rem auto;padding:0 1rem}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%}
th,td{padding:.4rem .75rem .4rem 0;text-align:left;border-bottom:1px solid #8884}
td+td,th+th{text-align:right;font-variant-numeric:tabular-nums}
pre{overflow-x:auto;padding:1rem;border:1px solid #8884;border-radius:.5rem}`;

/** Headers of the page, which runs nothing and has one style, its own. */
export const homeHeaders = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${hash("sha256", style, "base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  vary: "accept",
};

/** Whether a request comes from somebody who looks at the address in a browser. */
export function wantsPage({ headers }: Pick<IncomingMessage, "headers">): boolean {
  return /(^|,)\s*text\/html\b/i.test(headers.accept ?? "");
}

/** Where a client calls that reached us by this request. */
export function readBaseUrl({ headers, socket }: IncomingMessage): string {
  const scheme = "encrypted" in socket && socket.encrypted === true ? "https" : "http";
  return `${scheme}://${headers.host ?? "localhost"}`;
}

/** The public page: what is served, for how much, and how to call it. Everybody may see it. */
export function renderHome(models: readonly Model[], { baseUrl, hasSignIn }: HomeFacts): string {
  const base = escapeHtml(baseUrl);
  const example = models.find(({ kind }) => kind === ModelKind.GENERATION)?.id ?? "MODEL";
  const body = JSON.stringify({ model: example, messages: [{ role: "user", content: "Hello" }] });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>Tollgate</title>
<style>${style}</style>
</head>
<body>
<h1>Tollgate</h1>
<p>Open models behind one key and one prepaid balance.${hasSignIn ? ' <a href="/sign-in">Sign in</a>' : ""}</p>
<h2>Models and live prices</h2>
${models.length === 0 ? "<p>No model is served at the moment.</p>" : table(models)}
<h2>How to call</h2>
<p>OpenAI-style clients use <code>${base}/v1</code>, Anthropic-style clients <code>${base}</code>, both with the same API key.</p>
<pre>curl ${base}/v1/chat/completions \\
  -H 'authorization: Bearer API_KEY' \\
  -d '${escapeHtml(body)}'</pre>
<p><a href="${base}/v1/models">Models as JSON</a> · <a href="${base}/openapi.json">OpenAPI document</a></p>
</body>
</html>
`;
}

function table(models: readonly Model[]): string {
  const rows = models.map(
    ({ id, kind, contextLength, inputPicoUsdPerToken, outputPicoUsdPerToken }) =>
      `<tr><td>${escapeHtml(id)}</td><td>${usdPerMillion(inputPicoUsdPerToken)}</td><td>${
        kind === ModelKind.EMBEDDING ? "–" : usdPerMillion(outputPicoUsdPerToken)
      }</td><td>${contextLength.toLocaleString("en-US")}</td></tr>`,
  );
  return `<div class="wide"><table>
<tr><th scope="col">Model</th><th scope="col">Input, USD per 1M tokens</th><th scope="col">Output, USD per 1M tokens</th><th scope="col">Context, tokens</th></tr>
${rows.join("\n")}
</table></div>`;
}
