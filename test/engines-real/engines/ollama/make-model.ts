import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Kind } from "../../engine.ts";
import { goTemplate } from "../../model/said.ts";

/** Gives Ollama a model from a GGUF file, through its API. */
export async function makeModel(url: string, kind: Kind, path: string): Promise<void> {
  const file = readFileSync(path);
  const digest = `sha256:${createHash("sha256").update(file).digest("hex")}`;
  await send(`${url}/api/blobs/${digest}`, file);
  const model = {
    model: `tiny-${kind}`,
    files: { [`${kind}.gguf`]: digest },
    ...(kind === "chat" && { template: goTemplate }),
    stream: false,
  };
  await send(`${url}/api/create`, JSON.stringify(model));
}

async function send(url: string, body: Buffer<ArrayBuffer> | string): Promise<void> {
  const response = await fetch(url, { method: "POST", body, signal: AbortSignal.timeout(120_000) });
  const text = await response.text();
  if (!response.ok) {
    throw new Error(`${url} answers ${response.status}: ${text}`);
  }
}
