import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { Tool } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { failure } from "#lib/errors/failure.ts";

/**
 * The JSON Schema of a tool's arguments, with keys in their order. Throws INVALID_ARGUMENT when it is not JSON. `parse` is
 * `parseKeepingDigits` where the result is only written again.
 */
export function parseParameters(tool: Tool, index: number, parse: (text: string) => unknown): unknown {
  if (tool.parametersJson === "") {
    return { type: "object", properties: {} };
  }
  try {
    return parse(tool.parametersJson);
  } catch (error) {
    const parameter = `conversation.tools[${index}].parameters_json`;
    throw failure(Reason.INVALID_ARGUMENT, `${parameter} must be JSON.`, { parameter }, error);
  }
}
