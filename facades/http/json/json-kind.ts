import { type DescField, ScalarType } from "@bufbuild/protobuf";
import { readShape } from "./options.ts";
import type { JsonPath } from "./path.ts";

/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Kinds of JSON values, by which a union chooses its member. */
export type Kind = "a string" | "a number" | "a boolean" | "an array" | "an object" | "null";

/** The value as an object. Throws RequestError 400 when it is not one. */
export function asObject(json: unknown, path: JsonPath): JsonObject {
  if (kindOfJson(json) !== "an object") {
    throw path.error("must be an object");
  }
  return json as JsonObject;
}

/** The kind of a value. */
export function kindOfJson(json: unknown): Kind {
  if (json === null) {
    return "null";
  }
  if (Array.isArray(json)) {
    return "an array";
  }
  switch (typeof json) {
    case "string":
      return "a string";
    case "number":
      return "a number";
    case "boolean":
      return "a boolean";
    default:
      return "an object";
  }
}

/** The kind of JSON value that a field accepts. */
export function nameKind(field: DescField): Kind {
  if (field.message !== undefined) {
    return readShape(field.message).case === "unwrapped" ? "an array" : "an object";
  }
  if (field.enum !== undefined || field.scalar === ScalarType.STRING) {
    return "a string";
  }
  return field.scalar === ScalarType.BOOL ? "a boolean" : "a number";
}
