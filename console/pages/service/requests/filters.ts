import type { MessageInitShape } from "@bufbuild/protobuf";
import { type ListRequestsRequestSchema, RequestOutcome } from "#gen/tollgate/metering/v1/request_pb.js";

/** The names of the filters in the address. */
export const filterNames = ["outcome", "reason", "account", "key", "model", "from", "to"] as const;
export type Filters = Readonly<Record<(typeof filterNames)[number], string>>;

const outcomes: Readonly<Record<string, RequestOutcome>> = {
  finished: RequestOutcome.FINISHED,
  refused: RequestOutcome.REFUSED,
};

export const outcomeOptions = [
  { value: "", text: "All" },
  { value: "finished", text: "Finished" },
  { value: "refused", text: "Refused or failed" },
];

export function readFilters(query: URLSearchParams): Filters {
  return Object.fromEntries(filterNames.map((name) => [name, query.get(name) ?? ""])) as Filters;
}

/** What the core is asked. A time that is none filters nothing. */
export function toRequest(filters: Filters): MessageInitShape<typeof ListRequestsRequestSchema> {
  const { outcome, reason, account, key, model, from, to } = filters;
  return {
    ...{ reason, model, accountId: account, keyId: key },
    outcome: outcomes[outcome] ?? RequestOutcome.UNSPECIFIED,
    ...toTime("from", from),
    ...toTime("to", to),
  };
}

function toTime(name: "from" | "to", text: string) {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? {} : { [name]: { seconds: BigInt(Math.floor(ms / 1000)), nanos: 0 } };
}
