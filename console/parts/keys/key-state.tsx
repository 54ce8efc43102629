import type { ApiKey } from "#gen/tollgate/accounts/v1/api_key_pb.js";
import { formatSpan, toDate } from "../../format/time.ts";
import { Badge } from "../figures/badge.tsx";

const soonMs = 7 * 86_400_000;

/** Whether a key is revoked or expired. */
export function isOver(key: ApiKey): boolean {
  const end = key.limits?.expiresAt;
  return key.revokedAt !== undefined || (end !== undefined && toDate(end).getTime() <= Date.now());
}

/** Whether a key works, and until when. */
export function KeyState({ apiKey }: { readonly apiKey: ApiKey }) {
  if (apiKey.revokedAt !== undefined) {
    return <Badge>Revoked</Badge>;
  }
  if (apiKey.disabled && !isOver(apiKey)) {
    return <Badge tone="warn">Disabled</Badge>;
  }
  const end = apiKey.limits?.expiresAt;
  if (end === undefined) {
    return <Badge tone="good">Active</Badge>;
  }
  const left = toDate(end).getTime() - Date.now();
  if (left <= 0) {
    return <Badge>Ended</Badge>;
  }
  return <Badge tone={left < soonMs ? "warn" : "good"}>Ends in {formatSpan(left)}</Badge>;
}
