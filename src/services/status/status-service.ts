import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { StatusService } from "#gen/tollgate/status/v1/status_service_pb.js";
import type { DatedTrouble, Status } from "./status.ts";

/** Tells what is wrong: everything to operators, to everybody else what clients notice. */
export function createStatusService(status: Pick<Status, "read">): ServiceImpl<typeof StatusService> {
  const answer = (troubles: readonly DatedTrouble[]) => ({
    ok: troubles.length === 0,
    red: troubles.map((trouble) => ({ ...trouble, since: timestampFromMs(trouble.since) })),
  });
  return {
    getStatus: () => answer(status.read()),
    getPublicStatus: () => answer(status.read().flatMap(toPublic)),
  };
}

/** Names no server and no reason of the inside. */
function toPublic({ what, model, since }: DatedTrouble): DatedTrouble[] {
  switch (what) {
    case "no_server":
      return [{ what, since, ...(model !== undefined && { model }), reason: "No server of this model is up." }];
    case "database":
      return [{ what, since, reason: "Requests are not taken at the moment." }];
    default:
      return [];
  }
}
