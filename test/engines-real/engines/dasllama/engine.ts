import { join } from "node:path";
import { logOf } from "../../cache.ts";
import type { RealEngine } from "../../engine.ts";
import { contextLength } from "../../model/models.ts";
import { installPython, type PythonPackages } from "../../python.ts";

const version = "0.6.6";
const packages: PythonPackages = { name: "dasllama", packages: [`dasllama==${version}`] };

/** Rows that hold an answer against the words of the model. */
const rowsOfWords = [
  ...["plain", "stream", "thinking", "tools", "stop", "prefill", "completions", "repetition"],
  ...["disconnect", "engine killed", "engine restarted"],
];

export const dasllama: RealEngine = {
  title: "dasllama-server",
  version,
  engine: "openai",
  async install() {
    await installPython(packages);
  },
  async start(_kind, port, models) {
    const bin = await installPython(packages);
    return {
      command: [
        ...[join(bin, "dasllama-server"), "--model", models.gguf("chat"), "--quant", "fp32"],
        ...["--host", "127.0.0.1", "--port", String(port), "--ctx", String(contextLength)],
        ...["--streams", "4", "--threads", "1", "--gpu", "off"],
      ],
      log: logOf("dasllama-chat"),
      readyPath: "/v1/models",
      readySeconds: 120,
    };
  },
  servedName: () => "chat.gguf",
  cannot: {
    embeddings: "it serves none of this model",
    ...Object.fromEntries(rowsOfWords.map((row) => [row, "it loses the blanks before the words of this model"])),
  },
};
