import type { InferEntity } from "@mikro-orm/core";
import type { Row } from "./snapshot.ts";

interface Described {
  readonly meta: { readonly properties: object };
}

/**
 * Reads a row of a snapshot as the entity of its table, for lists that are read without the ORM. Whole numbers have to
 * fit in a JavaScript number.
 */
export function readEntity<Entity extends Described>(entity: Entity, row: Row): InferEntity<Entity> {
  const read: Record<string, unknown> = {};
  for (const [property, { type }] of Object.entries(entity.meta.properties)) {
    const value = row[property.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)];
    read[property] = value === null ? null : readValue(type, value);
  }
  return read as InferEntity<Entity>;
}

/** An entity's type is a class or an instance of one. */
function readValue(type: unknown, value: unknown): unknown {
  switch (typeof type === "function" ? type.name : type?.constructor.name) {
    case "BigIntType":
    case "IntegerType":
      return Number(value);
    case "DateTimeType":
      return readTime(value);
    default:
      return String(value);
  }
}

/** Reads a time of a row: SQLite keeps milliseconds; PostgreSQL's driver hands on "2026-05-01 23:59:00.123+00". */
export function readTime(value: unknown): Date {
  if (value instanceof Date) {
    return value;
  }
  const isText = typeof value === "string" && value.includes("-");
  return new Date(isText ? value.replace(" ", "T").replace(/([+-]\d\d)$/, "$1:00") : Number(value));
}
