import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import { amount, MAX_AMOUNT } from "./amount.ts";
import { Lot } from "./lot.ts";

/** A running core. What it leases is its own for as long as its heart beats. */
export const Core = defineEntity({
  name: "Core",
  properties: {
    id: p.uuid().primary(),
    /** Counts its starts: what an earlier process of the same core still sends is refused. */
    epoch: p.integer(),
    /** Counts its heartbeats. Others take it for dead when this stands still. */
    beats: p.integer().default(0),
    /** The beat at which others took it for dead and its slices: it is dead until the next one. Null: none. */
    deadBeat: p.integer().nullable(),
    /** By the database's clock, for people alone: nothing is decided by it. */
    heartbeatAt: p.datetime(3),
  },
});
export type Core = InferEntity<typeof Core>;

/** Part of a lot that one core may spend without asking. */
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
    /** Once closed it is history: unspent money is back in the lot and nothing is ever charged to it again. */
    open: p.boolean(),
  },
  // Of the open ones alone, so that a lot's history makes nothing slower.
  indexes: [
    { properties: ["lotId"], where: "open" },
    { properties: ["coreId"], where: "open" },
  ],
  checks: [
    { name: "slice_granted", expression: `granted >= 0 and granted <= ${MAX_AMOUNT}` },
    { name: "slice_spent", expression: "spent >= 0 and spent <= granted" },
  ],
});
export type Slice = InferEntity<typeof Slice>;
