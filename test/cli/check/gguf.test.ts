import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { writeChatModel, writeEmbeddingModel } from "../../../scripts/tiny-gguf.ts";
import { runHere } from "../../support/run-here.ts";

// A real llama.cpp, with tiny models of random weights that are made on the spot.

const folder = mkdtempSync(join(tmpdir(), "tollgate-check-gguf-"));
const file = (name: string) => join(folder, `${name}.gguf`);
beforeAll(() => {
  writeChatModel(file("chat"));
  writeEmbeddingModel(file("embedding"));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function check(models: readonly object[]) {
  const config = join(folder, "tollgate.yaml");
  const free = "127.0.0.1:0";
  const listen = { http: free, grpc: free, connect: free, admin: free };
  writeFileSync(config, JSON.stringify({ listen, models }));
  const environment = { TOLLGATE_DATA_DIR: join(folder, "data") };
  const { output } = await runHere(["check", "--config", config, "--json"], environment);
  const findings = JSON.parse(output) as readonly { readonly part: string; readonly status: string; message: string }[];
  return findings.filter(({ part }) => part.startsWith("server"));
}

const served = (name: string) => [{ url: pathToFileURL(file(name)).href, engine: "llama.cpp", capacity: 1 }];

test("models in this process are loaded and tried", async () => {
  const findings = await check([
    { id: "chat", context_length: 512, servers: served("chat") },
    { id: "embedding", kind: "embedding", context_length: 512, servers: served("embedding") },
  ]);
  expect(findings.map(({ status, message }) => [status, message])).toEqual([
    ["ok", "llama.cpp is healthy and serves chat"],
    ["ok", "llama.cpp is healthy and serves embedding"],
  ]);
});

test("a model file of another kind, other dimensions, or none", async () => {
  const embedding = { id: "e", kind: "embedding", context_length: 512 };
  writeFileSync(file("none"), "no model");
  const findings = await check([
    { ...embedding, dimensions: 768, servers: served("embedding") },
    { id: "n", servers: served("none") },
  ]);
  expect(findings.map(({ status }) => status)).toEqual(["wrong", "wrong"]);
  expect(findings[0]?.message).toContain("answers vectors of 1024 dimensions, not 768");
  expect(findings[1]?.message).toContain("none.gguf");
});
