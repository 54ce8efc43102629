import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { GetPublicStatusResponse } from "#gen/tollgate/status/v1/status_service_pb.js";

/** What everybody may know of the service's state, as JSON. `availability` undefined: nothing was asked for, or it is not known. */
export function toStatusJson(
  { ok, red }: Pick<GetPublicStatusResponse, "ok" | "red">,
  availability: number | undefined,
): string {
  const troubles = red.map(({ what, model, reason, since }) => ({
    what,
    ...(model !== "" && { model }),
    reason,
    since: since === undefined ? "" : timestampDate(since).toISOString(),
  }));
  return JSON.stringify({ ok, red: troubles, ...(availability !== undefined && { availability }) });
}
