import { randomBytes, randomFillSync } from "node:crypto";
import { uuidSource } from "./uuid.ts";

/** Randomness, injected so that tests can repeat it. */
export interface Random {
  /** Bytes that nobody can guess. */
  bytes(length: number): Uint8Array;
  /** A number from 0 up to but not including 1. */
  fraction(): number;
  /** A new identifier that sorts by creation time: UUIDv7. */
  uuid(): string;
}

/** The system's own randomness. */
export const systemRandom: Random = {
  bytes: (length) => randomBytes(length),
  fraction: () => Math.random(),
  uuid: uuidSource(randomFillSync, Date.now),
};
