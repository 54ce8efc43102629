import { useEffect, useState } from "preact/hooks";
import { type Server, ServerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import { UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import type { UsageRow } from "#gen/tollgate/metering/v1/usage_pb.js";
import { catalogue, metering } from "../../contract/clients.ts";
import { type Query, useQuery } from "../../parts/use-query.ts";

/** Where the service stands at a moment. Sums are those of settled requests since midnight, UTC. */
export interface Moment {
  /** Unix time in milliseconds. */
  readonly at: number;
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly earnedPicoUsd: bigint;
  readonly inFlight: number;
  readonly queued: number;
  readonly servers: readonly Server[];
}

const everyMs = 1000;
/** Moments that plots show: three minutes. */
const kept = 180;
const dayMs = 86_400_000;

/** The newest moment, and those before it, oldest first. */
export function useFeed(): { readonly query: Query<Moment>; readonly moments: readonly Moment[] } {
  const [moments, setMoments] = useState<readonly Moment[]>([]);
  const query = useQuery(load, [], everyMs);
  const newest = query.data;
  useEffect(() => {
    if (newest !== undefined) {
      setMoments((before) => [...before, newest].slice(-kept));
    }
  }, [newest]);
  return { query, moments };
}

async function load(signal: AbortSignal): Promise<Moment> {
  const [rows, servers] = await Promise.all([loadUsage(signal), loadServers(signal)]);
  const sum = (pick: (row: UsageRow) => bigint) => rows.reduce((all, row) => all + pick(row), 0n);
  return {
    at: Date.now(),
    requests: Number(sum((row) => row.requests)),
    inputTokens: Number(sum((row) => row.inputTokens)),
    outputTokens: Number(sum((row) => row.outputTokens)),
    earnedPicoUsd: sum((row) => BigInt(row.totalCostPicoUsd || row.costPicoUsd)),
    inFlight: servers.reduce((all, server) => all + server.inFlight, 0),
    queued: servers.reduce((all, server) => all + (server.queued ?? 0), 0),
    servers,
  };
}

async function loadUsage(signal: AbortSignal): Promise<readonly UsageRow[]> {
  const from = { seconds: BigInt(Math.floor((Math.floor(Date.now() / dayMs) * dayMs) / 1000)) };
  const rows: UsageRow[] = [];
  for await (const piece of metering.streamUsage({ groupBy: [UsageGroup.DAY], from }, { signal })) {
    rows.push(...piece.rows);
  }
  return rows;
}

async function loadServers(signal: AbortSignal): Promise<readonly Server[]> {
  return (await catalogue.listServers({ pageSize: 1000 }, { signal })).servers;
}

/** Servers that get work. */
export function countHealthy(servers: readonly Server[]): number {
  return servers.filter(({ state }) => state === ServerState.HEALTHY).length;
}
