import cluster from "node:cluster";
import { createRegistry } from "../../telemetry/registry.ts";
import type { Admin } from "../admin.ts";
import type { Lifecycle } from "../lifecycle.ts";
import type { FromWorker, ToWorker } from "./messages.ts";

/** This process's number among the workers of one service. Undefined: it is none. */
export function workerNumber(): string | undefined {
  return cluster.isWorker ? process.env.TOLLGATE_WORKER : undefined;
}

/** As startAdmin, but its metrics and its readiness are shown by the process that supervises it. */
export function reportToSupervisor(number: string, address: string, lifecycle: Lifecycle): Admin {
  const registry = createRegistry(lifecycle.readiness);
  registry.setDefaultLabels({ worker: number });
  const tell = (message: FromWorker) => void process.send?.(message);
  process.on("message", async ({ type, question }: ToWorker) => {
    if (type === "metrics") tell({ type, question, text: await registry.metrics() });
  });
  lifecycle.onReady((addresses) => tell({ type: "ready", addresses }));
  lifecycle.onDrain(() => tell({ type: "draining" }));
  return { address, registry };
}
