import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import { amount, maxAmount } from "../amount.ts";
import { Lot } from "./lot.ts";

/** One epoch of a core. Its leases stay its own while heartbeats come. */
export const Core = defineEntity({
  name: "Core",
  properties: {
    id: p.uuid().primary(),
    /** Counts the starts of the core. Slices and heartbeats belong to an epoch. */
    epoch: p.integer().primary(),
    /**
     * The lock that the process holds while it runs: another holder of the same lock knows that this process is dead.
     * Null: unknown.
     */
    instance: p.string().nullable(),
    /** Counts its heartbeats. Other cores take it for dead when the counter stands still. */
    beats: p.integer().default(0),
    /** The heartbeat at which others took it for dead, and its slices: it is dead until the next one. Null: none. */
    deadBeat: p.integer().nullable(),
    /** By the database's clock, for people only: nothing is decided by it. */
    heartbeatAt: p.datetime(3),
  },
});
export type Core = InferEntity<typeof Core>;

/** A part of a lot that one core may spend without asking. */
export const Slice = defineEntity({
  name: "Slice",
  properties: {
    id: p.uuid().primary(),
    lotId: () => p.manyToOne(Lot).mapToPk().joinColumn("lot_id").index(false),
    accountId: p.uuid(),
    coreId: p.uuid(),
    epoch: p.integer(),
    granted: amount(),
    spent: amount(),
    /** A closed slice is history: its unspent money is back in the lot, and nothing is ever charged to it again. */
    open: p.boolean(),
  },
  // Only open slices, so that a lot's history makes nothing slower.
  indexes: [
    { properties: ["lotId"], where: "open" },
    { properties: ["coreId"], where: "open" },
    { properties: ["accountId"], where: "open" },
  ],
  checks: [
    { name: "slice_granted", expression: `granted >= 0 and granted <= ${maxAmount}` },
    { name: "slice_spent", expression: "spent >= 0 and spent <= granted" },
  ],
});
export type Slice = InferEntity<typeof Slice>;
