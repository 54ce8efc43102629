import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { GetPublicHistoryResponseSchema, StatusService } from "#gen/tollgate/status/v1/status_service_pb.js";
import type { ServiceHistory } from "./availability/interface.ts";
import type { DatedTrouble, Status } from "./status.ts";

/** Tells what is wrong: everything to operators, to everybody else what clients notice. */
export function createStatusService(
  status: Pick<Status, "read">,
  readHistory: () => Promise<ServiceHistory>,
): ServiceImpl<typeof StatusService> {
  const answer = (troubles: readonly DatedTrouble[]) => ({
    ok: troubles.length === 0,
    red: troubles.map((trouble) => ({ ...trouble, since: timestampFromMs(trouble.since) })),
  });
  return {
    getStatus: () => answer(status.read()),
    getPublicStatus: () => answer(status.read().flatMap(toPublic)),
    getPublicHistory: async () => toHistory(await readHistory()),
  };
}

function toHistory({
  models,
  incidents,
  availability,
}: ServiceHistory): MessageInitShape<typeof GetPublicHistoryResponseSchema> {
  return {
    models: models.map(({ model, days, firstTokenP50Ms, firstTokenP99Ms, ...of }) => ({
      ...{ model, days: [...days] },
      ...(of.availability !== undefined && { availability: of.availability }),
      ...(firstTokenP50Ms !== undefined && { firstTokenP50Ms }),
      ...(firstTokenP99Ms !== undefined && { firstTokenP99Ms }),
    })),
    incidents: incidents.map(({ model, began, ended }) => ({
      ...{ model, began: timestampFromDate(began) },
      ...(ended !== undefined && { ended: timestampFromDate(ended) }),
    })),
    ...(availability !== undefined && { availability }),
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
