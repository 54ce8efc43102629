import type { ConnectError } from "@connectrpc/connect";
import { engineFailed, engineOverloaded, engineRefused, inputTooLong, toDiagnosis } from "../shared/faults.ts";
import type { HttpResponse } from "../shared/http/connection.ts";

/** The failure for an error status. TEI answers `{error, error_type}`. */
export function toRefusal(where: string, response: HttpResponse): ConnectError {
  const { message, type } = readError(response.text);
  const what = `${where} answered ${response.status}: ${toDiagnosis([type], message)}`;
  const [, limit, unit, actual] = /must have less than (\d+) (tokens|characters)\. Given: (\d+)/.exec(message) ?? [];
  if (unit === "tokens") {
    return inputTooLong(what, undefined, { limit: Number(limit), actual: Number(actual) });
  }
  if (unit === "characters") {
    return inputTooLong(what, undefined, {}); // 250 characters a token: TEI did not even count them
  }
  switch (response.status) {
    case 429:
    case 503:
      return engineOverloaded(what, 1000);
    case 400:
    case 413:
    case 422:
      return engineRefused(what);
    case 424: // the model failed, as when its GPU has no memory left
      return engineFailed(what, true);
    default:
      return engineFailed(what, response.status >= 500);
  }
}

function readError(text: string): { message: string; type: unknown } {
  try {
    const { error, error_type } = JSON.parse(text);
    return { message: typeof error === "string" ? error.slice(0, 4096) : "", type: error_type };
  } catch {
    return { message: "", type: undefined };
  }
}
