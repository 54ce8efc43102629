import { request } from "undici";
import type { Config } from "#src/config/schema.ts";
import type { Secrets } from "#src/config/secrets/secrets.ts";
import { type Finding, patienceMs, toReason } from "../finding.ts";

/** Checks that the receiver of usage events answers and knows the token. It is asked for nothing and sent nothing. */
export async function checkUsageEvents(
  { usage_events: { url } }: Config,
  { usageEventsToken: token }: Secrets,
): Promise<Finding[]> {
  const part = "usage_events";
  if (url === undefined) {
    return [];
  }
  const { host } = new URL(url);
  try {
    const signal = AbortSignal.timeout(patienceMs);
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const { statusCode, body } = await request(url, { method: "HEAD", headers, signal });
    await body.dump();
    return statusCode === 401 || statusCode === 403
      ? [{ part, status: "wrong", message: `${host} answers ${statusCode}: check TOLLGATE_USAGE_EVENTS_TOKEN` }]
      : [{ part, status: "ok", message: `${host} answers` }];
  } catch (error) {
    return [{ part, status: "wrong", message: `${host}: ${toReason(error)}: check usage_events.url` }];
  }
}
