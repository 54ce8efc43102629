import { BreakerState, type Server, ServerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import type { Trouble } from "./trouble.ts";

type ServerFacts = Pick<Server, "id" | "model" | "state" | "breaker" | "lastError">;

/** The models that no server is up for, then the servers that are down or cut off. */
export function findFleetTroubles(models: readonly string[], servers: readonly ServerFacts[]): Trouble[] {
  const ofModels = models.flatMap((model) => {
    const own = servers.filter((server) => server.model === model);
    return own.some(isUp) ? [] : [noServer(model, own)];
  });
  return [...ofModels, ...servers.flatMap(findServerTrouble)];
}

function noServer(model: string, servers: readonly ServerFacts[]): Trouble {
  const isDrained = servers.length > 0 && servers.every(({ state }) => state === ServerState.DRAINING);
  const reason = isDrained ? "All servers of this model are drained." : "No server of this model is up.";
  return { what: "no_server", model, reason };
}

function findServerTrouble({ id, model, state, breaker, lastError }: ServerFacts): Trouble[] {
  const about = { model, server: id, reason: lastError || "It was not checked yet." };
  if (state === ServerState.UNHEALTHY) {
    return [{ what: "server_down", ...about }];
  }
  // A trial that nobody has sent yet has not shown that it works again.
  return state === ServerState.HEALTHY && breaker !== BreakerState.CLOSED ? [{ what: "server_cut_off", ...about }] : [];
}

function isUp({ state, breaker }: ServerFacts): boolean {
  return state === ServerState.HEALTHY && breaker !== BreakerState.OPEN;
}
