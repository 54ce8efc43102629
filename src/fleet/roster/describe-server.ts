import { type Server, ServerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import { parseUsd } from "#lib/money/money.ts";
import type { Routing } from "#src/config/schema.ts";
import type { FleetSharing } from "../interface.ts";
import type { Member } from "../servers/member.ts";
import { toName } from "./shared-servers.ts";

/**
 * Describes a server for the catalogue, on which this core runs `inFlight` requests. `routing` is how the model's servers
 * are chosen. `sharing` is undefined where this core is the only one.
 */
export function describeServer(
  member: Member,
  inFlight: number,
  routing: Routing,
  sharing: FleetSharing | undefined,
): Server {
  const { config, weight, lastError, breaker, elsewhere } = member;
  const { running, waiting: queued, kvUsage, cacheHits, cacheQueries } = member.load ?? {};
  const cost = parseUsd(config.usd_per_hour ?? "");
  return {
    $typeName: "tollgate.catalogue.v1.Server",
    id: member.id,
    url: config.url,
    model: member.modelId,
    engine: config.engine,
    state: toState(member),
    inFlight,
    inFlightElsewhere: elsewhere.inFlight,
    avoidedElsewhere: sharing?.avoiding(toName(member)) ?? 0,
    ...(running !== undefined && { running }),
    ...(queued !== undefined && { queued }),
    ...(kvUsage !== undefined && { kvUsage }),
    ...(cost !== undefined && { picoUsdPerHour: cost }),
    breaker: breaker.state,
    capacity: config.capacity,
    weight,
    priorities: config.priorities,
    ...(cacheHits !== undefined && cacheQueries && { cacheHitRate: cacheHits / cacheQueries }),
    lastError,
    routing,
  };
}

function toState({ draining, healthy }: Member): ServerState {
  if (draining) {
    return ServerState.DRAINING;
  }
  return healthy ? ServerState.HEALTHY : ServerState.UNHEALTHY;
}
