import { parseJson } from "#lib/text/json/parse.ts";
import { engineFailed } from "../faults.ts";
import type { HttpConnection, HttpRequest, HttpResponse } from "./connection.ts";

/**
 * Makes a call whose answer is a JSON object or array. `toRefusal` creates the failure for a status other than 200.
 * `where` names the server for the log.
 */
export async function callJson(
  connection: HttpConnection,
  where: string,
  request: HttpRequest,
  toRefusal: (where: string, response: HttpResponse) => Error,
  signal: AbortSignal,
): Promise<object> {
  const response = await connection.send(request, signal);
  if (response.status !== 200) {
    throw toRefusal(where, response);
  }
  return parseObject(`${where} (${request.path})`, response.text);
}

/** An answer's JSON object or array. Throws ENGINE_FAILED for anything else. */
export function parseObject(where: string, text: string): object {
  const body = parseJson(text);
  if (typeof body === "object" && body !== null) {
    return body;
  }
  throw engineFailed(`${where} answered with something that is not a JSON object`, true);
}
