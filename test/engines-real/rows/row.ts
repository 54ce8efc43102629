import { isDeepStrictEqual } from "node:util";
import type { RealEngine } from "../engine.ts";
import type { Gate } from "../gate.ts";
import type { RunningProgram } from "../programs.ts";
import type { Exchange, Tee } from "../tee.ts";

/** All that a row has to do with. */
export interface Bench {
  readonly driver: RealEngine;
  readonly gate: Gate;
  readonly tee: Tee;
  /** Before the server of the embedding model. */
  readonly embeddingTee: Tee;
  /** The server of the chat model as it runs now. */
  engine(): RunningProgram;
  /** Starts it again after a kill. */
  restart(): Promise<void>;
  /** Keeps an engine's bytes for the tests. */
  keep(name: string, exchange: Exchange): void;
}

/** One thing that is tried on every engine. */
export interface Row {
  readonly name: string;
  /** Whether it needs the server of the embedding model. */
  readonly embeds?: true;
  /** Resolves when all is as it should be, with a remark at most. Throws with the difference. */
  run(bench: Bench): Promise<string | undefined>;
}

/** Throws unless both are the same. */
export function same(what: string, found: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(found, expected)) {
    throw new Error(`${what} is ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`);
  }
}

/** Throws unless it holds. */
export function holds(what: string, condition: unknown): void {
  if (!condition) {
    throw new Error(what);
  }
}
