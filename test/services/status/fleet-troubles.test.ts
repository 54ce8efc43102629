import { expect, test } from "@jest/globals";
import { BreakerState, ServerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import { findFleetTroubles } from "#src/services/status/fleet-troubles.ts";

const up = { id: "a/m", model: "m", state: ServerState.HEALTHY, breaker: BreakerState.CLOSED, lastError: "" };
const down = { ...up, id: "b/m", state: ServerState.UNHEALTHY, lastError: "ECONNREFUSED" };
const cut = { ...up, id: "c/m", breaker: BreakerState.OPEN, lastError: "it broke" };
const drained = { ...up, id: "d/m", state: ServerState.DRAINING };

test("a model with a server that is up has one; servers that are down or cut off are told with their reasons", () => {
  expect(findFleetTroubles(["m"], [up, drained])).toEqual([]);
  expect(findFleetTroubles(["m"], [up, down, cut])).toEqual([
    { what: "server_down", model: "m", server: "b/m", reason: "ECONNREFUSED" },
    { what: "server_cut_off", model: "m", server: "c/m", reason: "it broke" },
  ]);
});

test("a model none of whose servers is up is told first", () => {
  expect(findFleetTroubles(["m", "n"], [down, cut, drained]).filter(({ what }) => what === "no_server")).toEqual([
    { what: "no_server", model: "m", reason: "No server of this model is up." },
    { what: "no_server", model: "n", reason: "No server of this model is up." },
  ]);
  expect(findFleetTroubles(["m"], [drained])).toEqual([
    { what: "no_server", model: "m", reason: "All servers of this model are drained." },
  ]);
});
