import type { Tool } from "#gen/tollgate/inference/v1/conversation_pb.js";
import type { ToolParam } from "#gen/tollgate/messages/v1/tool_pb.js";
import { parseKeepingDigits } from "#lib/text/json/long-numbers.ts";
import { invalidField } from "../../http/request/error.ts";

/** A tool as the core takes it. Throws RequestError for a tool that the original service runs itself. */
export function toTool({ type, name, description, inputSchema }: ToolParam, path: string): Tool {
  if (type !== "" && type !== "custom") {
    throw invalidField(`${path}.type`, `must be "custom": this service runs no tools of its own`);
  }
  const parametersJson = objectSchema(inputSchema, `${path}.input_schema`);
  return { $typeName: "tollgate.inference.v1.Tool", name, description, parametersJson };
}

/** The schema with its type stated, as engines require. The usual schema begins with its type and is not parsed. */
function objectSchema(schema: string, path: string): string {
  if (/^\{("\$schema":"[^"]*",)?"type":"/.test(schema)) {
    return schema;
  }
  if (schema === "") {
    throw invalidField(path, "is required");
  }
  const value: unknown = parseKeepingDigits(schema);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalidField(path, "must be an object");
  }
  const named = "type" in value && value.type !== null;
  return named ? schema : JSON.stringify({ ...value, type: "object" });
}
