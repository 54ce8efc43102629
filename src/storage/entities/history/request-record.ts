import { BigIntType, defineEntity, type EntityProperty, type InferEntity, type Platform, p } from "@mikro-orm/core";

/** A number that the database counts up. SQLite counts only in a column of this very type. */
class RowNumber extends BigIntType<"number"> {
  constructor() {
    super("number");
  }

  override getColumnType(property: EntityProperty, platform: Platform): string {
    const integer = platform.getIntegerTypeDeclarationSQL(property);
    return integer === "integer" ? integer : super.getColumnType(property, platform);
  }
}

/**
 * A request that was refused or failed. Written in groups and dropped rather than waited for, so it is no part of the
 * books; the oldest leave.
 */
export const RequestRecord = defineEntity({
  name: "RequestRecord",
  properties: {
    /** In the order of writing, so that the oldest are the lowest. */
    id: p.type(RowNumber).primary().autoincrement(),
    requestId: p.string(),
    /** Null: the credential was not of an account. */
    accountId: p.uuid().nullable(),
    /** Empty: a service token, or none that is known. */
    keyId: p.string(),
    surface: p.string(),
    /** Empty: none that is served. */
    model: p.string(),
    reason: p.string(),
    /** 0: it came over gRPC. */
    httpStatus: p.integer(),
    durationMs: p.integer(),
    /** Empty: no server was asked. */
    server: p.string(),
    /** Like requests shortly before that were left out. */
    leftOut: p.integer(),
    at: p.datetime(3),
  },
  indexes: [
    { properties: ["at", "id"] },
    { properties: ["accountId", "at", "id"] },
    { properties: ["keyId", "at", "id"] },
    { properties: ["requestId"] },
  ],
});
export type RequestRecord = InferEntity<typeof RequestRecord>;
