import type { Environment } from "#src/config/environment.ts";

/** The process as commands see it. */
export interface Io {
  readonly environment: Environment;
  /** Writes a result to standard output. */
  print(text: string): void;
  /** Writes notes, which are not the result, to standard error. */
  note(text: string): void;
  /** Reports the progress of a task to a person at a terminal. Scripts and logs do not get it. */
  progress(text: string): void;
}

/** The process itself. */
export const processIo: Io = {
  environment: process.env,
  print: (text) => void process.stdout.write(`${text}\n`),
  note: (text) => void process.stderr.write(`${text}\n`),
  progress: (text) => void (process.stderr.isTTY && process.stderr.write(`${text}\n`)),
};
