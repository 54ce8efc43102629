import type { UnreadAnswer } from "../../../../lib/net/unread-answers.ts";

/** Milliseconds after which a caller that makes no room is given up. */
const patienceMs = 60_000;

/** A message of a carried call whose caller has no room for it. */
export class WaitingAnswer implements UnreadAnswer {
  readonly owner: string;
  readonly bytes: number;
  readonly giveUp: () => void;

  constructor(owner: string, bytes: number, giveUp: () => void) {
    this.owner = owner;
    this.bytes = bytes;
    this.giveUp = giveUp;
  }

  isLate(ageMs: number): boolean {
    return ageMs >= patienceMs;
  }
}
