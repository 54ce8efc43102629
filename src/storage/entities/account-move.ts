import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import { amount } from "./amount.ts";

/**
 * What a move carries. account: an account with everything it has here. rest: money or a debt that turned up where an
 * account has been, such as a late charge of a core that had died.
 */
export const moveKinds = ["account", "rest"] as const;
export type MoveKind = (typeof moveKinds)[number];

/**
 * The state of a move. Where it began: closing (nothing has left yet), sent (it has left), done (it has arrived),
 * cancelled (it never left). Where it goes: arrived.
 */
export const moveStates = ["closing", "sent", "done", "cancelled", "arrived"] as const;
export type MoveState = (typeof moveStates)[number];

/** The move of an account from one database to another. Both databases have a row of it, under the same id. */
export const AccountMove = defineEntity({
  name: "AccountMove",
  properties: {
    id: p.uuid().primary(),
    accountId: p.uuid().index(),
    kind: p.enum(moveKinds),
    /** The number of the account's move, from 1: the newest one tells where the account is. */
    generation: p.integer(),
    /** The numbers of the two databases. */
    fromShard: p.integer(),
    toShard: p.integer(),
    /** True in the database that the account came to, false in the one that it left. */
    incoming: p.boolean(),
    state: p.enum(moveStates),
    /** Free money of the lots that move, the debt that moves, and the sum of payments. May exceed 2^53. */
    money: p.bigint("bigint"),
    debt: p.bigint("bigint"),
    paidTotal: p.bigint("bigint"),
    /**
     * Everything that moves, as JSON. It is kept in the database that it left: the other database may be restored to a
     * state before it arrived. Null: it has not left yet.
     */
    payload: p.text().nullable(),
    /** A move that is still closing at this time is given up. */
    until: p.datetime(3),
    changedAt: p.datetime(3).index(),
  },
  indexes: [{ name: "account_move_open", properties: ["id"], where: "state in ('closing', 'sent')" }],
});
export type AccountMove = InferEntity<typeof AccountMove>;

/** A lot's part of a move. */
export const LotMove = defineEntity({
  name: "LotMove",
  properties: {
    moveId: p.uuid().primary(),
    lotId: p.uuid().primary(),
    /** The money of the lot that moved. */
    carried: amount(),
    /**
     * The change that the move made to the lot's `refunded`, which also counts money in other databases: more where
     * money left, less where it came back, and for a lot that is new here everything that did not come along.
     */
    refunded: amount(),
  },
  indexes: [{ properties: ["lotId"] }],
  checks: [{ name: "lot_move_carried", expression: "carried > 0" }],
});
export type LotMove = InferEntity<typeof LotMove>;
