import {
  create,
  type DescField,
  type DescMessage,
  type JsonObject,
  type MessageInitShape,
  toJson,
} from "@bufbuild/protobuf";

const redacted = new WeakMap<DescField, boolean>();

/**
 * A message as JSON with the contract's names, without the fields that the contract marks as secret (`debug_redact`).
 * Partial messages are accepted, since handlers may answer with them.
 */
export function toPublicJson<Desc extends DescMessage>(schema: Desc, message: MessageInitShape<Desc>): JsonObject {
  const json = toJson(schema, create(schema, message), { useProtoFieldName: true }) as JsonObject;
  return withoutSecrets(schema, json);
}

/** Whether only the caller itself may see a field's value. */
export function isSecret(field: DescField): boolean {
  let found = redacted.get(field);
  if (found === undefined) {
    found = field.proto.options?.debugRedact ?? false;
    redacted.set(field, found);
  }
  return found;
}

function withoutSecrets(schema: DescMessage, json: JsonObject): JsonObject {
  const shown: JsonObject = {};
  for (const [name, value] of Object.entries(json)) {
    const field = schema.fields.find((one) => one.name === name);
    if (field !== undefined && isSecret(field)) {
      continue;
    }
    if (field?.fieldKind === "message" && !field.message.typeName.startsWith("google.")) {
      shown[name] = withoutSecrets(field.message, value as JsonObject);
    } else if (field?.fieldKind === "list" && field.listKind === "message") {
      shown[name] = (value as JsonObject[]).map((item) => withoutSecrets(field.message, item));
    } else {
      shown[name] = value;
    }
  }
  return shown;
}
