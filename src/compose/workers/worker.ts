import cluster from "node:cluster";
import { createRegistry } from "../../telemetry/registry.ts";
import type { Drains } from "../core/interface.ts";
import type { Admin } from "../process/admin.ts";
import type { Lifecycle } from "../process/lifecycle.ts";
import type { FromWorker, ToWorker } from "./messages.ts";

/** This process's number among the workers of one service. Undefined: it is no worker. */
export function workerNumber(): string | undefined {
  return cluster.isWorker ? process.env.TOLLGATE_WORKER : undefined;
}

/** As startAdmin, but the supervisor shows this process's metrics and readiness. */
export function reportToSupervisor(number: string, address: string, lifecycle: Lifecycle): Admin {
  const registry = createRegistry(lifecycle.readiness);
  registry.setDefaultLabels({ worker: number });
  process.on("message", async (message: ToWorker) => {
    if (message.type !== "metrics") {
      return;
    }
    tell({ ...message, text: await registry.metrics() });
  });
  lifecycle.onReady((addresses) => tell({ type: "ready", addresses }));
  lifecycle.onDrain(() => tell({ type: "draining" }));
  return { address, registry };
}

/** Drains and resumes servers together with the other workers. */
export function shareDrains(drains: Drains): void {
  drains.share((server, draining) => tell({ type: "drain", server, draining }));
  process.on("message", (message: ToWorker) => {
    if (message.type === "drain") {
      drains.take(message.server, message.draining);
    }
  });
}

function tell(message: FromWorker): void {
  process.send?.(message);
}
