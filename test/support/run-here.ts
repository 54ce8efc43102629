import { run } from "../../src/cli/program.ts";
import type { Environment } from "../../src/config/environment.ts";

/** How a command ended in this process, without starting one. */
export interface Outcome {
  readonly code: number;
  readonly output: string;
  readonly notes: string;
}

/** Runs a command line. */
export async function runHere(args: readonly string[], environment: Environment = {}): Promise<Outcome> {
  const output: string[] = [];
  const notes: string[] = [];
  const code = await run(args, {
    environment,
    print: (text) => void output.push(text),
    note: (text) => void notes.push(text),
    progress: () => {},
  });
  return { code, output: output.join("\n"), notes: notes.join("\n") };
}
