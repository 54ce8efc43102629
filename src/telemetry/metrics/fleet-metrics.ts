import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { BreakerState, type Server, ServerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import { toServerCosts } from "#lib/money/server-costs.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { Fleet, FleetObserver, FleetSharing } from "#src/fleet/interface.ts";
import { TalliedHistogram } from "../tallies/histogram.ts";

/** Milliseconds for which a server's counts are shown after it left: until its last requests have ended, as a rule. */
const keptMs = 3_600_000;

/** Measures the fleet. Labels are ids of models and servers, which come from the configuration and from lookups. */
export function fleetMetrics(
  registry: Registry,
  clock: Pick<Clock, "after">,
  servers: () => readonly Server[],
): FleetObserver {
  const registers = [registry];
  const waits = new Histogram({
    name: "tollgate_queue_wait_seconds",
    help: "Time that requests waited for a server, of those that had to.",
    labelNames: ["model"],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30],
    registers,
  });
  const failures = new Counter({
    name: "tollgate_server_failures_total",
    help: "Requests that a server failed or was too full for; another server may have answered them.",
    labelNames: ["server", "model"],
    registers,
  });
  const implausible = new Counter({
    name: "tollgate_implausible_counts_total",
    help: "Requests for which a server counted what cannot be true, or sent more than its tokens can be.",
    labelNames: ["server", "model"],
    registers,
    collect() {
      // Begins at 0, because a counter that first appears as 1 shows no increase to an alarm.
      for (const { id: server, model } of servers()) {
        this.inc({ server, model }, 0);
      }
    },
  });
  const errors = new TalliedHistogram({
    name: "tollgate_first_token_error_seconds",
    help: "How far the first token came from when it was expected of its server, sooner or later.",
    labelNames: ["server", "model"],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30],
    registers,
  });
  const shed = new Counter({
    name: "tollgate_shed_requests_total",
    help: "Requests that were refused because no server would have kept the first token that their class is promised.",
    labelNames: ["model", "service_class"],
    registers,
  });
  return {
    firstToken: (server, model, ms, expectedMs) => errors.observe(Math.abs(ms - expectedMs) / 1000, server, model),
    shed: (model, serviceClass) => shed.inc({ model, service_class: serviceClass }),
    waited: (model, ms) => waits.observe({ model }, ms / 1000),
    failed: (server, model) => failures.inc({ server, model }),
    implausible: (server, model) => implausible.inc({ server, model }),
    left: (server, model) =>
      void clock.after(keptMs, () => {
        if (!servers().some((one) => one.id === server && one.model === model)) {
          failures.remove({ server, model });
          implausible.remove({ server, model });
          errors.remove(server, model);
        }
      }),
  };
}

const hourMs = 3_600_000n;
/** Pico-USD in one USD. */
const perUsd = 1e12;

const states = { healthy: ServerState.HEALTHY, unhealthy: ServerState.UNHEALTHY, draining: ServerState.DRAINING };
const breakers = { closed: BreakerState.CLOSED, open: BreakerState.OPEN, half_open: BreakerState.HALF_OPEN };

/** Shows the models' queues and every server at every scrape. */
export function watchFleet(
  registry: Registry,
  fleet: Pick<Fleet, "servers" | "utilisation" | "waiting" | "sharing">,
  models: () => readonly string[],
): void {
  const registers = [registry];
  const ofModel = (name: string, help: string, value: (model: string) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ["model"],
      registers,
      collect() {
        this.reset(); // a reload may have removed a model
        for (const model of models()) {
          this.set({ model }, value(model));
        }
      },
    });
  ofModel("tollgate_queue_length", "Requests that wait for a server.", (model) => fleet.waiting(model));
  ofModel(
    "tollgate_utilisation_ratio",
    "Part of a model's capacity in use, in requests or tokens; above 1 when requests wait.",
    (model) => fleet.utilisation(model),
  );

  new Gauge({
    name: "tollgate_model_servers_usd_per_hour",
    help: "What the servers of a model cost an hour in USD, as configured. Absent where one of them has no price.",
    labelNames: ["model"],
    registers,
    collect() {
      this.reset(); // a reload may have removed a model or a price
      for (const [model, cost] of toServerCosts(fleet.servers(), hourMs)) {
        if (cost !== undefined) {
          this.set({ model }, Number(cost) / perUsd);
        }
      }
    },
  });

  watchSharing(registry, fleet);

  const ofServer = (name: string, help: string, value: (server: Server) => number | undefined) =>
    new Gauge({
      name,
      help,
      labelNames: ["server", "model"],
      registers,
      collect() {
        this.reset(); // a server may no longer report it, or be gone
        for (const server of fleet.servers()) {
          const number = value(server);
          if (number !== undefined) {
            this.set({ server: server.id, model: server.model }, number);
          }
        }
      },
    });
  ofServer("tollgate_server_in_flight", "Requests that run on a server for this core.", (server) => server.inFlight);
  ofServer("tollgate_server_capacity", "Requests that a server may run at once.", (server) => server.capacity);
  ofServer("tollgate_server_queued", "Requests that wait in a server, by its own count.", (server) => server.queued);
  ofServer(
    "tollgate_server_cache_hit_ratio",
    "Part of prompt tokens that a server found in its prefix cache, by its own count.",
    (server) => server.cacheHitRate,
  );

  const switches = <T>(name: string, help: string, positions: Record<string, T>, of: (server: Server) => T) =>
    new Gauge({
      name,
      help,
      labelNames: ["server", "model", "state"],
      registers,
      collect() {
        this.reset(); // a server that a reload removed is in no state
        for (const server of fleet.servers()) {
          for (const [state, position] of Object.entries(positions)) {
            this.set({ server: server.id, model: server.model, state }, of(server) === position ? 1 : 0);
          }
        }
      },
    });
  switches("tollgate_server_state", "1 for the state that a server is in.", states, (server) => server.state);
  switches(
    "tollgate_server_breaker",
    "1 for the position of a server's circuit breaker.",
    breakers,
    (server) => server.breaker,
  );
}

/** Shows how cores hear each other. A core that is alone with its fleet counts as in touch. */
function watchSharing(registry: Registry, fleet: Pick<Fleet, "sharing">): void {
  const registers = [registry];
  const gauge = (name: string, help: string, alone: number, value: (sharing: FleetSharing) => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(fleet.sharing === undefined ? alone : value(fleet.sharing));
      },
    });
  gauge(
    "tollgate_fleet_shared",
    "Whether cores hear of each other's requests: 1, or 0 while each sends sessions to servers by their hash.",
    1,
    ({ isInTouch }) => Number(isInTouch),
  );
  gauge("tollgate_fleet_cores", "Other cores that are heard.", 0, ({ cores }) => cores);
  const counter = (name: string, help: string, value: (sharing: FleetSharing) => number) => {
    let before = 0;
    new Counter({
      name,
      help,
      registers,
      collect() {
        const now = fleet.sharing === undefined ? 0 : value(fleet.sharing);
        this.inc(now - before);
        before = now;
      },
    });
  };
  counter("tollgate_fleet_sent_bytes_total", "Bytes told to other cores.", ({ sentBytes }) => sentBytes);
  counter("tollgate_fleet_heard_bytes_total", "Bytes heard, of this core's own, too.", ({ heardBytes }) => heardBytes);
  counter(
    "tollgate_fleet_lost_news_total",
    "Messages that could not be read, and prompts that other cores were not told of.",
    ({ unreadable, dropped }) => unreadable + dropped,
  );
}
