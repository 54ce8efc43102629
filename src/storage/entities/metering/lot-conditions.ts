// Conditions on lots, for statements and for the entity's indexes. Apart from the entity: who writes SQL needs no ORM.

/**
 * Condition for a lot with money that no core has leased. Queries state it literally, so that the indexes serve them.
 * The column stands on the left: SQLite turns a comparison round that has it on the right, and then finds no index.
 */
export const withFreeMoney = "granted > spent + leased + refunded + expired";

/** Condition for a credit lot that can still be drawn or is still owed for. Queries state it literally, as above. */
export const withCredit = "kind = 'credit' and (repaid <> spent or granted > spent + refunded)";
