import type { HandlerContext } from "@connectrpc/connect";
import { Code, ConnectError } from "@connectrpc/connect";
import { Health, HealthCheckResponse_ServingStatus as Status } from "#gen/grpc/health/v1/health_pb.js";
import { registration, type ServiceRegistration } from "./registration.ts";

/** The standard gRPC health service for a set of services, which always share one state. */
export interface HealthReporter {
  /** The service, to be served with the others. */
  readonly registration: ServiceRegistration;
  /** Sets whether calls are welcome. Initially they are. */
  setServing(serving: boolean): void;
  /** Sends NOT_SERVING to every watcher and ends its call, so that a server can drain. */
  drain(): void;
}

/** Reports the health of the server as a whole, under the empty name, and of each service. */
export function createHealth(services: readonly ServiceRegistration[]): HealthReporter {
  const names = new Set(["", Health.typeName, ...services.map(({ service }) => service.typeName)]);
  const watchers = new Set<() => void>();
  let serving = true;
  let draining = false;
  const status = () => (serving ? Status.SERVING : Status.NOT_SERVING);
  const wakeAll = () => {
    for (const wake of watchers) {
      wake();
    }
  };
  /** Resolves at the next change, or when the watcher has gone. */
  const changed = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const wake = () => {
        watchers.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      watchers.add(wake);
      signal.addEventListener("abort", wake);
      if (signal.aborted) {
        wake();
      }
    });

  return {
    registration: registration(Health, {
      check({ service }) {
        if (!names.has(service)) {
          throw new ConnectError(`${service} is not served`, Code.NotFound);
        }
        return { status: status() };
      },
      list() {
        return { statuses: Object.fromEntries([...names].map((name) => [name, { status: status() }])) };
      },
      async *watch({ service }, { signal }: HandlerContext) {
        let told: Status | undefined;
        while (!signal.aborted) {
          const now = names.has(service) ? status() : Status.SERVICE_UNKNOWN;
          if (now !== told) {
            told = now;
            yield { status: now };
          } else if (draining) {
            return;
          } else {
            await changed(signal);
          }
        }
      },
    }),
    setServing(value) {
      serving = value && !draining;
      wakeAll();
    },
    drain() {
      draining = true;
      serving = false;
      wakeAll();
    },
  };
}
