import { resolve } from "node:path";
import type { ModelConfig } from "#src/config/schema.ts";
import type { Demo } from "./demo.ts";

/** The greeting of an embedded service: its models, and a command to try. */
export function welcome({
  url,
  notice,
  models,
  demo,
  dataDir,
  link,
  command,
}: {
  url: string;
  notice: string;
  models: readonly ModelConfig[];
  demo: Demo;
  dataDir: string;
  /** The link that opens the console. Undefined: there is no console. */
  link: string | undefined;
  /** The command that another shell runs against this service. */
  command: string;
}): string {
  const generators = models.filter(({ kind }) => kind === "generation");
  const model = generators.find(({ thinking }) => thinking.mode === "none") ?? generators[0] ?? models[0];
  return `
${notice}

  base URL   ${url}/v1   (OpenAI-style clients)
             ${url}      (Anthropic-style clients)
  API key    ${demo.key}
  account    ${demo.accountId}   (demo)
  data       ${resolve(dataDir)}
${link === undefined ? "" : `  console    ${link}\n`}
Try it:

  ${curl(url, demo.key, model)}

What it cost:

  ${command} accounts show ${demo.accountId}
`;
}

function curl(url: string, key: string, model: ModelConfig | undefined): string {
  const [path, body] =
    model?.kind === "embedding"
      ? ["embeddings", { model: model.id, input: "Hello" }]
      : ["chat/completions", { model: model?.id, stream: true, messages: [{ role: "user", content: "Hello" }] }];
  return `curl ${url}/v1/${path} -H 'authorization: Bearer ${key}' \\\n    -d '${JSON.stringify(body)}'`;
}
