import { UniqueConstraintViolationException } from "@mikro-orm/sql";
import { pauseAbout } from "#lib/time/pause-about.ts";

/** SQLSTATE: a transaction that could not be serialized, and one that was ended to resolve a deadlock. */
const conflicts: ReadonlySet<string> = new Set(["40001", "40P01"]);
const tries = 6;
const firstPauseMs = 5;

/** Runs a transaction, and runs it again when the server ended it in favour of another: then it has changed nothing. */
export async function retryConflicts<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (attempt === tries || !isConflict(error)) {
        throw error;
      }
      await pauseBeforeRetry(attempt);
    }
  }
}

/**
 * Waits until what a transaction collided with is likely to be durable, and so seen by readers. `attempt`: how many have
 * failed.
 */
export function pauseBeforeRetry(attempt: number): Promise<void> {
  return pauseAbout(firstPauseMs * 2 ** attempt);
}

/**
 * Reads what a transaction has collided with, which readers may see a moment later. Throws the transaction's error where
 * nothing is there.
 */
export async function readCollided<T>(error: unknown, read: () => Promise<T | undefined>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const found = await read();
    if (found !== undefined) {
      return found;
    }
    if (attempt === tries || !(error instanceof UniqueConstraintViolationException)) {
      throw error;
    }
    await pauseBeforeRetry(attempt);
  }
}

/** Whether a transaction was ended in favour of another. The ORM's errors carry the driver's code or cause. */
export function isConflict(error: unknown): boolean {
  if (!(error instanceof Error)) {
    return false;
  }
  return ("code" in error && conflicts.has(String(error.code))) || isConflict(error.cause);
}
