import type { ConnectError } from "@connectrpc/connect";
import { engineFailed, engineOverloaded, engineRefused, inputTooLong } from "../faults.ts";
import type { HttpResponse } from "../http/connection.ts";

/** What an error status stands for; TEI says `{error, error_type}`. */
export function refusalOf(where: string, response: HttpResponse): ConnectError {
  const message = messageOf(response.text);
  const what = `${where} answered ${response.status}: ${message.slice(0, 200)}`;
  const [, limit, actual] = /must have less than (\d+) tokens\. Given: (\d+)/.exec(message) ?? [];
  if (limit !== undefined) return inputTooLong(what, undefined, { limit: Number(limit), actual: Number(actual) });
  switch (response.status) {
    case 429:
    case 503:
      return engineOverloaded(what, 1000);
    case 400:
    case 413:
    case 422:
      return engineRefused(what);
    default:
      return engineFailed(what, response.status >= 500);
  }
}

function messageOf(text: string): string {
  try {
    const { error } = JSON.parse(text);
    return typeof error === "string" ? error : "";
  } catch {
    return "";
  }
}
