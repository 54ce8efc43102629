import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import { amount, maxAmount } from "../amount.ts";
import { Lot } from "./lot.ts";

/** One run of a core. Its leases are its own for as long as its heart beats. */
export const Core = defineEntity({
  name: "Core",
  properties: {
    id: p.uuid().primary(),
    /** Counts the starts of the core. Slices belong to one of them, and so does a heart. */
    epoch: p.integer().primary(),
    /** The lock that the process holds as long as it runs: who holds the same one knows that it is dead. Null: not known. */
    instance: p.string().nullable(),
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
    { properties: ["accountId"], where: "open" },
  ],
  checks: [
    { name: "slice_granted", expression: `granted >= 0 and granted <= ${maxAmount}` },
    { name: "slice_spent", expression: "spent >= 0 and spent <= granted" },
  ],
});
export type Slice = InferEntity<typeof Slice>;
