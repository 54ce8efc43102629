import type { Load } from "../../sharing/news.ts";
import type { OtherHead } from "../../sharing/standing.ts";
import type { Member } from "../member.ts";
import type { Place } from "../place.ts";

/** The queues of other cores for the same model, and how to give them their turn. */
export interface OtherQueues {
  /** Their heads, in no order. A head that was left a place is gone until its core names the next one. */
  heads(): readonly OtherHead[];
  /** Whether a head's core may use a server, as far as it said. */
  mayUse(head: OtherHead, member: Member): boolean;
  /** Leaves a place to a head, as `load` on the server. */
  leave(head: OtherHead, member: Member, load: Load): void;
  /** Work was served to an account, which now has `running` on this core. */
  served(place: Pick<Place, "key" | "serviceClass">, work: number, running: number): void;
}

const noHeads: readonly OtherHead[] = [];

/** The queues of other cores when there are none. */
export const noQueues: OtherQueues = {
  heads: () => noHeads,
  mayUse: () => false,
  leave() {},
  served() {},
};
