import { type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type GetUsageRequest,
  type GetUsageResponse,
  UsageDimension,
  type UsageSums,
} from "#gen/tollgate/chat/v1/account_view_pb.js";
import { UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import type { UsageRow } from "#gen/tollgate/metering/v1/usage_pb.js";
import { formatUsd } from "#lib/money/money.ts";
import { dayMs } from "#lib/time/days.ts";
import { parseMoment } from "#lib/time/moment.ts";
import type { CoreClients } from "../../http/core/core-clients.ts";
import type { Exchange } from "../../http/exchange.ts";
import { invalidField } from "../../http/request/error.ts";

/** The most rows of one usage answer. Writing them takes a few milliseconds. */
const mostUsageRows = 5000;

const { ACCOUNT, KEY, MODEL, DAY, HOUR, LABEL } = UsageDimension;
const usual = [ACCOUNT, KEY, MODEL];

const groups: Readonly<Record<UsageDimension, UsageGroup>> = {
  [UsageDimension.UNSPECIFIED]: UsageGroup.UNSPECIFIED,
  [UsageDimension.ACCOUNT]: UsageGroup.ACCOUNT,
  [UsageDimension.KEY]: UsageGroup.KEY,
  [UsageDimension.MODEL]: UsageGroup.MODEL,
  [UsageDimension.DAY]: UsageGroup.DAY,
  [UsageDimension.HOUR]: UsageGroup.HOUR,
  [UsageDimension.LABEL]: UsageGroup.LABEL,
};

/**
 * The account's usage of the last 30 days, or of the requested time. Throws RequestError for a wrong field, or when
 * there would be too many rows.
 */
export async function readUsage(
  core: CoreClients,
  exchange: Exchange,
  asked: GetUsageRequest,
): Promise<GetUsageResponse> {
  const by = asked.by.length === 0 ? usual : asked.by;
  const data: UsageSums[] = [];
  const request = toRequest(asked, by, exchange.runtime.clock.now());
  let ofMoment: Timestamp | undefined;
  for await (const { rows, asOf } of core.metering.streamUsage(request, exchange.callOptions)) {
    if (data.length + rows.length > mostUsageRows) {
      throw invalidField("by", `makes more than ${mostUsageRows} rows: ask for a shorter time or fewer groups`);
    }
    ofMoment ??= asOf;
    data.push(...rows.map((row) => toSums(row, by)));
  }
  return {
    $typeName: "tollgate.chat.v1.GetUsageResponse",
    data,
    ...(ofMoment && { asOf: timestampDate(ofMoment).toISOString() }),
  };
}

/** The same question for the core. Throws RequestError for a wrong field. */
function toRequest(
  { from: begin, to: end, label: labelName, labelValue }: GetUsageRequest,
  by: readonly UsageDimension[],
  now: number,
) {
  const from = readTime("from", begin) ?? new Date(now - 30 * dayMs);
  const to = readTime("to", end);
  if (labelName === "" && (by.includes(LABEL) || labelValue !== undefined)) {
    throw invalidField("label", "must name the label to group or filter by");
  }
  return {
    from: timestampFromDate(from),
    ...(to && { to: timestampFromDate(to) }),
    groupBy: by.map((dimension) => groups[dimension]),
    labelName,
    ...(labelValue !== undefined && { labelValue }),
  };
}

function toSums(row: UsageRow, by: readonly UsageDimension[]): UsageSums {
  return {
    $typeName: "tollgate.chat.v1.UsageSums",
    ...(by.includes(ACCOUNT) && { accountId: row.accountId }),
    ...(by.includes(KEY) && { keyId: row.keyId }),
    ...(by.includes(MODEL) && { model: row.model }),
    ...(by.includes(DAY) && { day: row.day }),
    ...(by.includes(HOUR) && { hour: row.hour }),
    ...(by.includes(LABEL) && { label: row.label }),
    requests: row.requests,
    inputTokens: row.inputTokens,
    outputTokens: row.outputTokens,
    costUsd: formatUsd(costOf(row)),
  };
}

/** Reads a time of a query. Throws RequestError when it is none. */
export function readTime(field: string, text: string): Date | undefined {
  if (text === "") {
    return undefined;
  }
  const time = parseMoment(text);
  if (time === undefined) {
    throw invalidField(field, "must be a day or a time, such as 2026-01-31 or 2026-01-31T12:00:00Z");
  }
  return time;
}

/** The cost of a row in pico-USD. */
export const costOf = ({ totalCostPicoUsd }: UsageRow) => BigInt(totalCostPicoUsd);
