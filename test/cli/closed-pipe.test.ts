import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";

const launcher = fileURLToPath(new URL("../../bin/tollgate.js", import.meta.url));

test.each([["config", "schema"], ["--help"], ["check", "--config", "/nonexistent.yaml"], ["no-such-command"]])(
  "%s %s ends without a word when nobody reads what it says",
  async (...command) => {
    const child = spawn(process.execPath, [launcher, ...command], { stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.destroy();
    const isError = !["config", "--help"].includes(command[0] ?? "");
    if (isError) {
      child.stderr.destroy();
    }
    const said: string[] = [];
    child.stderr.on("data", (text: Buffer) => said.push(text.toString()));
    const [code] = await once(child, "exit");
    expect(said.join("")).toBe("");
    expect(code).toBe(isError ? 1 : 0);
  },
);
