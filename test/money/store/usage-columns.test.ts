import { expect, test } from "@jest/globals";
import { lineColumns, usageColumns } from "#src/money/store/usage-columns.ts";
import { Usage, UsageLine } from "#src/storage/entities/metering/usage.ts";

/** What carries each of the entities' types. */
const carriers: Readonly<Record<string, string>> = {
  StringType: "text",
  TextType: "text",
  UuidType: "uuid",
  BigIntType: "bigint",
  DateTimeType: "float8",
};

/** The type of a parameter for each property of an entity, in order. An enumeration has no type of its own. */
const typesOf = ({ meta }: typeof Usage | typeof UsageLine, key: readonly string[] = []) =>
  Object.entries<{ type: unknown }>(meta.properties)
    .filter(([property]) => !key.includes(property))
    .map(([property, { type }]) => {
      const name = typeof type === "function" ? type.name : type?.constructor.name;
      return [property, carriers[name ?? "StringType"]];
    });

test("each column of a receipt and of its lines is carried as the entity has it", () => {
  const described = (columns: readonly { property: string; type: string }[]) =>
    columns.map(({ property, type }) => [property, type]);
  expect(described(usageColumns)).toEqual(typesOf(Usage));
  expect(described(lineColumns)).toEqual(typesOf(UsageLine, ["requestId", "runId", "seq"]));
});
