import { Code } from "@connectrpc/connect";
import { Counter, type Registry } from "prom-client";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { methodName } from "#lib/rpc/method-name.ts";
import type { CallObserver } from "#src/wire/interceptors/observation/observe.ts";
import { limitNames } from "#src/wire/interceptors/observation/refused-limit.ts";
import { TalliedCounter } from "../tallies/counter.ts";
import { TalliedHistogram } from "../tallies/histogram.ts";

/** Counts the core's calls. Every label comes from a contract: methods, codes, reasons. */
export function callMetrics(registry: Registry): CallObserver {
  const registers = [registry];
  const requests = new TalliedCounter({
    name: "tollgate_requests_total",
    help: "Calls to the core that are over, by method, status code and reason; without a reason nothing was refused.",
    labelNames: ["method", "code", "reason"],
    registers,
  });
  const duration = new TalliedHistogram({
    name: "tollgate_request_duration_seconds",
    help: "Time of a call to the core from its arrival to its end, streams included.",
    labelNames: ["method"],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 1800],
    registers,
  });
  const refusals = new Counter({
    name: "tollgate_limit_refusals_total",
    help: "Calls that a limit refused, by the limit: of requests, tokens, money or a key's budget; held: running requests have the rest.",
    labelNames: ["limit"],
    registers,
  });
  for (const limit of limitNames) {
    refusals.inc({ limit }, 0); // so that the first refusal of a kind shows as an increase
  }
  return ({ method, code, reason, limit, ms }) => {
    const name = methodName(method);
    requests.add(1, name, code === undefined ? "OK" : Code[code], reason === undefined ? "" : Reason[reason]);
    duration.observe(ms / 1000, name);
    if (limit !== undefined) {
      refusals.inc({ limit });
    }
  };
}
