import type { Demo } from "./demo.ts";

/** What the first start prints for people: what runs, and a line to try. */
export function welcome({ http, model, demo }: { http: string; model: string; demo: Demo }): string {
  const url = `http://${http}`;
  return `
Tollgate serves a SIMULATED GPU fleet: answers are made-up words, no model runs.

  base URL   ${url}/v1   (OpenAI-style clients)
             ${url}      (Anthropic-style clients)
  API key    ${demo.key}   (demo account ${demo.accountId})

Try it:

  curl ${url}/v1/chat/completions -H 'authorization: Bearer ${demo.key}' \\
    -d '{"model":"${model}","stream":true,"messages":[{"role":"user","content":"Hello"}]}'

Then look at the account:  npx tollgate accounts show ${demo.accountId}
`;
}
