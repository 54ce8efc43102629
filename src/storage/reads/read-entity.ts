import type { InferEntity } from "@mikro-orm/core";
import type { Row } from "./snapshot.ts";

interface Described {
  readonly meta: { readonly properties: object };
}

/**
 * Reads a row of a snapshot as the entity of its table, for lists read without the ORM. Whole numbers have to fit in a
 * JavaScript number.
 */
export function readEntity<Entity extends Described>(entity: Entity, row: Row): InferEntity<Entity> {
  const read: Record<string, unknown> = {};
  for (const { property, column, readValue } of columnsOf(entity)) {
    const value = row[column];
    read[property] = value === null ? null : readValue(value);
  }
  return read as InferEntity<Entity>;
}

interface Column {
  readonly property: string;
  readonly column: string;
  readonly readValue: (value: unknown) => unknown;
}

/**
 * Found once for each entity: examining its description for every row takes several times longer than reading the row.
 */
const known = new WeakMap<Described, readonly Column[]>();

function columnsOf(entity: Described): readonly Column[] {
  let columns = known.get(entity);
  if (columns === undefined) {
    columns = Object.entries(entity.meta.properties).map(([property, { type }]) => ({
      property,
      column: property.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      readValue: readerOf(type),
    }));
    known.set(entity, columns);
  }
  return columns;
}

/** An entity's type is a class or an instance of one. */
function readerOf(type: unknown): Column["readValue"] {
  switch (typeof type === "function" ? type.name : type?.constructor.name) {
    case "BigIntType":
    case "RowNumber":
    case "IntegerType":
      return Number;
    case "DateTimeType":
      return readTime;
    default:
      return String;
  }
}

/** Reads a time of a row: SQLite stores milliseconds; PostgreSQL's driver returns "2026-05-01 23:59:00.123+00". */
export function readTime(value: unknown): Date {
  if (value instanceof Date) {
    return value;
  }
  const isText = typeof value === "string" && value.includes("-");
  return new Date(isText ? value.replace(" ", "T").replace(/([+-]\d\d)$/, "$1:00") : Number(value));
}
