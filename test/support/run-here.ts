import { run } from "#src/cli/program.ts";
import type { Environment } from "#src/config/environment.ts";

/** The result of a command that ran in this process. */
export interface Outcome {
  readonly code: number;
  readonly output: string;
  readonly notes: string;
}

/** Runs a command line in this process. */
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
