import type { MessageInitShape } from "@bufbuild/protobuf";
import { type ListRequestsRequestSchema, RequestOutcome } from "#gen/tollgate/metering/v1/request_pb.js";
import { toTimes } from "../../../parts/forms/ends.tsx";
import type { Filters } from "../../../parts/forms/filters.tsx";

/** The names of the filters in the address. */
export const filterNames = ["outcome", "reason", "account", "key", "model"] as const;
export type RequestFilters = Filters<(typeof filterNames)[number]>;

const outcomes: Readonly<Record<string, RequestOutcome>> = {
  finished: RequestOutcome.FINISHED,
  refused: RequestOutcome.REFUSED,
};

export const outcomeOptions = [
  { value: "", text: "All" },
  { value: "finished", text: "Finished" },
  { value: "refused", text: "Refused or failed" },
];

/** What the core is asked, without spaces around what was typed. A time that is none filters nothing. */
export function toRequest(filters: RequestFilters): MessageInitShape<typeof ListRequestsRequestSchema> {
  const { outcome, reason, account, key, model } = filters;
  return {
    ...{ reason, model: model.trim(), accountId: account.trim(), keyId: key.trim() },
    outcome: outcomes[outcome] ?? RequestOutcome.UNSPECIFIED,
    ...toTimes(filters),
  };
}
