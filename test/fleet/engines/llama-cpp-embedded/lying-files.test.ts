import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { describeGguf } from "#src/fleet/engines/llama-cpp-embedded/describe.ts";
import { LlamaCppEngine } from "#src/fleet/engines/llama-cpp-embedded/engine.ts";
import { GgufFile } from "../../../../scripts/tiny-gguf/gguf.ts";

// Model files that say what cannot be, read by the real llama.cpp: each is an error in words or a figure that can be.

const folder = mkdtempSync(join(tmpdir(), "tollgate-lying-gguf-"));
afterAll(() => rmSync(folder, { recursive: true }));

const architecture = (file: GgufFile) => file.string("general.architecture", "qwen3");
const lies: [string, (file: GgufFile) => void][] = [
  ["nothing", () => {}],
  ["no architecture that is a text", (file) => file.uint32("general.architecture", 7)],
  ["a text in place of all that is general", (file) => file.string("general", "qwen3")],
  ["an architecture of a million characters", (file) => file.string("general.architecture", "q".repeat(1_000_000))],
  [
    "a context in words",
    (file) => {
      architecture(file);
      file.string("qwen3.context_length", "long");
    },
  ],
  [
    "a context of nothing, and vectors of half a number",
    (file) => {
      architecture(file);
      file.uint32("qwen3.context_length", 0);
      file.uint32("qwen3.pooling_type", 3);
      file.float32("qwen3.embedding_length", 0.5);
    },
  ],
  [
    "a context and vectors of four billion",
    (file) => {
      architecture(file);
      file.uint32("qwen3.context_length", 2 ** 32 - 1);
      file.uint32("qwen3.pooling_type", 2 ** 32 - 1);
      file.uint32("qwen3.embedding_length", 2 ** 32 - 1);
    },
  ],
  [
    "a template that is a list",
    (file) => {
      architecture(file);
      file.strings("tokenizer.chat_template", ["a", "b"]);
    },
  ],
];

describe.each(lies)("a file that tells %s", (name, write) => {
  const path = join(folder, `${name.replaceAll(/\W/g, "-").slice(0, 40)}.gguf`);
  const gguf = new GgufFile();
  write(gguf);
  writeFileSync(path, gguf.toBuffer());

  test("is described by what can be", async () => {
    const model = await describeGguf(path);
    expect(model.context_length).toBeGreaterThan(0);
    expect(model.context_length).toBeLessThanOrEqual(8192);
    expect(Number.isInteger(model.dimensions ?? 1) && (model.dimensions ?? 1) > 0).toBe(true);
  });

  test.each(["generation", "embedding"] as const)("is no model for %s, in words", async (kind) => {
    const settings = { kind, contextLength: 512, capacity: 1, systemAnywhere: false };
    const engine = new LlamaCppEngine(pathToFileURL(path).href, settings);
    const error = await engine.checkHealth().catch((thrown) => thrown);
    expect(readDetail(error)?.reason).toBe(Reason.ENGINE_FAILED);
    expect(error.cause.message).toContain(path);
    expect(error.cause.message).not.toMatch(/Cannot read|is not a function|undefined/);
    await engine.close();
  });
});
