import { defineEntity, type InferEntity, p } from "@mikro-orm/core";
import { amount } from "./amount.ts";

/**
 * What a move is of. account: an account with all that it has here. rest: money or a debt that turned up where an account has been,
 * such as a late charge of a core that had died.
 */
export const moveKinds = ["account", "rest"] as const;
export type MoveKind = (typeof moveKinds)[number];

/**
 * How a move stands. Where it began: closing (nothing has left yet), sent (it has left), done (it is there), cancelled (it never
 * left). Where it goes: arrived.
 */
export const moveStates = ["closing", "sent", "done", "cancelled", "arrived"] as const;
export type MoveState = (typeof moveStates)[number];

/** An account's way from one database to another. Both have a row of it, under the same id. */
export const AccountMove = defineEntity({
  name: "AccountMove",
  properties: {
    id: p.uuid().primary(),
    accountId: p.uuid().index(),
    kind: p.enum(moveKinds),
    /** Counts the moves of the account, from 1: the newest one says where it is. */
    generation: p.integer(),
    /** The numbers of the databases. */
    fromShard: p.integer(),
    toShard: p.integer(),
    /** Whether it came here, rather than went. */
    incoming: p.boolean(),
    state: p.enum(moveStates),
    /** Free money of lots that moves, the debt that does, and the sum of payments. May pass 2^53. */
    money: p.bigint("bigint"),
    debt: p.bigint("bigint"),
    paidTotal: p.bigint("bigint"),
    /**
     * Everything that moves, as JSON, kept where it left: the database that it went to may be restored to before it came. Null: it has
     * not left yet.
     */
    payload: p.text().nullable(),
    /** A move that is closing then is given up. */
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
    /** The money that moved with it. */
    carried: amount(),
    /**
     * What that made of the lot's `refunded`, which here counts what is in other databases, too: more of it where money left,
     * less where it came back, and in a lot that is new here all that did not come along.
     */
    refunded: amount(),
  },
  indexes: [{ properties: ["lotId"] }],
  checks: [{ name: "lot_move_carried", expression: "carried > 0" }],
});
export type LotMove = InferEntity<typeof LotMove>;
