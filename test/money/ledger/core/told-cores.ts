import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

/** A core in a process of its own, which does what it is told. */
export interface ToldCore {
  /** Sends a line and waits for the answer. */
  tell(line: string): Promise<string>;
  signal(name: "SIGSTOP" | "SIGCONT"): void;
  kill(): Promise<void>;
}

/** Starts one; its journal is in the directory. */
export async function startToldCore(url: string, directory: string): Promise<ToldCore> {
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(
    process.execPath,
    [join(import.meta.dirname, "told-core.ts"), url, directory],
    { stdio: ["pipe", "pipe", "inherit"] },
  );
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await answers.next();
    if (done) {
      throw new Error("the core has ended");
    }
    return String(value);
  };
  await next();
  return {
    tell(line) {
      child.stdin.write(`${line}\n`);
      return next();
    },
    signal: (name) => void child.kill(name),
    async kill() {
      const exited = once(child, "exit");
      if (child.exitCode !== null || child.signalCode !== null) {
        return;
      }
      child.kill("SIGKILL");
      await exited;
    },
  };
}
