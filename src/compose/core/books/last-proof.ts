import { Event } from "#src/storage/entities/event.ts";
import type { Storage } from "#src/storage/orm.ts";

/** The time of a proof of the books, and its result. */
export interface Proof {
  readonly at: number;
  readonly ok: boolean;
}

/** The newest proof that events tell of, by whichever core. Undefined: no event tells of one. */
export async function readLastProof(storage: Storage): Promise<Proof | undefined> {
  const [event] = await storage.orm.em
    .fork()
    .find(
      Event,
      { type: { $in: ["books.proved", "books.failed"] } },
      { orderBy: { at: "desc", id: "desc" }, limit: 1 },
    );
  return event && { at: event.at.getTime(), ok: event.type === "books.proved" };
}
