import { type ChildProcessByStdio, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterAll } from "@jest/globals";

/** The program of the page. */
const page = readFileSync(fileURLToPath(new URL("../../../../docs/statement.md", import.meta.url)), "utf8");
const program = /```python\n(.*?)```/s.exec(page)?.[1] ?? "";

/** Runs a program anew on each file that is named on a line, as `python3 -c PROGRAM FILE` does: each start takes 0.1 s of CPU. */
const runner = `
import io, json, sys, traceback
from contextlib import redirect_stderr, redirect_stdout
program = compile(sys.argv[1], "<string>", "exec")
for line in sys.stdin:
    sys.argv, out, error, code = ["-c", line.rstrip("\\n")], io.StringIO(), io.StringIO(), 0
    with redirect_stdout(out), redirect_stderr(error):
        try:
            exec(program, {"__name__": "__main__"})
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
            if isinstance(end.code, str): print(end.code, file=sys.stderr)
        except BaseException:
            code = 1
            traceback.print_exc()
    print(json.dumps({"code": code, "text": (error if code else out).getvalue()}), flush=True)
`;

interface Verdict {
  readonly code: number;
  readonly text: string;
}

let python: ChildProcessByStdio<Writable, Readable, null> | undefined;
const waiting: PromiseWithResolvers<Verdict>[] = [];
afterAll(() => void python?.stdin.end());

function start() {
  const started = spawn("python3", ["-c", runner, program], { stdio: ["pipe", "pipe", "inherit"] });
  createInterface(started.stdout).on("line", (line) => waiting.shift()?.resolve(JSON.parse(line)));
  const ended = () => {
    for (const { reject } of waiting.splice(0)) {
      reject(new Error("python3 has ended"));
    }
  };
  started.on("error", ended).on("exit", ended);
  return started;
}

/** Runs the page's own program on a statement's file. */
export function askPython(file: string): Promise<Verdict> {
  python ??= start();
  const asked = Promise.withResolvers<Verdict>();
  waiting.push(asked);
  python.stdin.write(`${file}\n`);
  return asked.promise;
}
