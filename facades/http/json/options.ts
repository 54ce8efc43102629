import {
  type DescEnum,
  type DescField,
  type DescMessage,
  type DescOneof,
  getOption,
  hasOption,
} from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import {
  type JsonField,
  type JsonMessage,
  json_field,
  json_message,
  json_value,
} from "#gen/tollgate/facade/v1/json_pb.js";

/** The json_message option of a message, with its defaults. */
export function readShape(desc: DescMessage): JsonMessage["shape"] {
  return hasOption(desc, json_message) ? getOption(desc, json_message).shape : { case: undefined };
}

/** Whether decoding an unknown tag leaves the oneof of a tagged message unset. */
export function ignoresUnknownTags(desc: DescMessage): boolean {
  return hasOption(desc, json_message) && getOption(desc, json_message).ignoreUnknownTags;
}

/** The json_field option of a field. Undefined: none. */
export function readRules(field: DescField): JsonField | undefined {
  return hasOption(field, json_field) ? getOption(field, json_field) : undefined;
}

/** The field's key, or the tag that selects it. */
export function readKey(field: DescField): string {
  return readRules(field)?.name || field.name;
}

/** Whether an unset field has a value, too: proto3 fields without `optional`, and lists. */
export function isImplicit(field: DescField): boolean {
  return field.fieldKind === "list" || field.presence === FeatureSet_FieldPresence.IMPLICIT;
}

/** The single oneof of a union message. */
export function readUnion(desc: DescMessage): DescOneof {
  const [union] = desc.oneofs;
  if (union === undefined) {
    throw new Error(`${desc}: a union needs a oneof`);
  }
  return union;
}

/** The single field of a message that stands for an array. */
export function readList(desc: DescMessage): DescField & { fieldKind: "list" } {
  const [field] = desc.fields;
  if (field?.fieldKind !== "list") {
    throw new Error(`${desc}: only a repeated field can be unwrapped`);
  }
  return field;
}

/** The values of an enum with their strings in JSON. */
export function readStrings(desc: DescEnum): ReadonlyMap<number, string> {
  const named = desc.values.filter((value) => hasOption(value, json_value));
  return new Map(named.map((value) => [value.number, getOption(value, json_value)]));
}
