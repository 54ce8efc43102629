import { type StreamUsageRequest, UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import type { UsageRow } from "#gen/tollgate/metering/v1/usage_pb.js";
import type { Storage } from "../../storage/orm.ts";
import type { Row } from "../../storage/snapshot.ts";
import { usageConditions } from "./usage-conditions.ts";

const mostInt64 = 2n ** 63n - 1n;
const usual = [UsageGroup.ACCOUNT, UsageGroup.KEY, UsageGroup.MODEL];

/** Sums requests, tokens and cost, piece by piece. */
export async function* streamUsage(storage: Storage, request: StreamUsageRequest): AsyncGenerator<UsageRow[]> {
  const groups = new Set(request.groupBy.length > 0 ? request.groupBy : usual);
  // A comparison with something that is no UUID is an error in PostgreSQL; it matches no account anyway.
  if (request.accountId !== "" && !/^[0-9a-f-]{36}$/i.test(request.accountId)) {
    return;
  }

  const snapshot = await storage.snapshot();
  try {
    const { sql, parameters } = query(storage.dialect, request, groups);
    for await (const rows of snapshot.rows(sql, parameters)) {
      yield rows.map(toUsageRow);
    }
  } finally {
    await snapshot.close();
  }
}

const columns = new Map([
  [UsageGroup.ACCOUNT, { name: "account_id", sqlite: "account_id", postgresql: "account_id" }],
  [UsageGroup.KEY, { name: "key_id", sqlite: "key_id", postgresql: "key_id" }],
  [UsageGroup.MODEL, { name: "model", sqlite: "model", postgresql: "model" }],
  [
    UsageGroup.DAY,
    {
      name: "day",
      sqlite: "strftime('%Y-%m-%d', settled_at / 1000, 'unixepoch')",
      postgresql: "to_char(settled_at at time zone 'UTC', 'YYYY-MM-DD')",
    },
  ],
  [
    UsageGroup.HOUR,
    {
      name: "hour",
      sqlite: "strftime('%Y-%m-%dT%H:00:00Z', settled_at / 1000, 'unixepoch')",
      postgresql: `to_char(settled_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:00:00"Z"')`,
    },
  ],
]);

function query(dialect: Storage["dialect"], request: StreamUsageRequest, groups: ReadonlySet<UsageGroup>) {
  const conditions = usageConditions(request);
  const kept = [...columns].filter(([group]) => groups.has(group)).map(([, column]) => column);
  const places = kept.map((_, at) => at + 1).join(", ");
  const sql = `
    select ${kept.map((column) => `${column[dialect]} as ${column.name}, `).join("")} count(*) as requests,
      sum(input_tokens) as input_tokens, sum(output_tokens) as output_tokens, sum(cost >> 32) as cost_high,
      sum(cost & 4294967295) as cost_low
    from usage ${conditions.where}
    group by ${places} order by ${places}`;
  return { sql, parameters: conditions.parameters };
}

function toUsageRow(row: Row): UsageRow {
  const text = (name: string) => (row[name] === undefined ? "" : String(row[name]));
  const count = (name: string) => BigInt(String(row[name]));
  // Summed in two parts: SQLite's sums end at 64 bits.
  const cost = (count("cost_high") << 32n) + count("cost_low");
  return {
    $typeName: "tollgate.metering.v1.UsageRow",
    accountId: text("account_id"),
    keyId: text("key_id"),
    model: text("model"),
    day: text("day"),
    hour: text("hour"),
    requests: count("requests"),
    inputTokens: count("input_tokens"),
    outputTokens: count("output_tokens"),
    costPicoUsd: cost < mostInt64 ? cost : mostInt64,
    totalCostPicoUsd: String(cost),
  };
}
