import type { UnreadAnswer } from "../../../../lib/net/unread-answers.ts";

/** A caller that makes no room for so long is given up, in milliseconds. */
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
