import { signal } from "@preact/signals";
import type { Trouble } from "#gen/tollgate/status/v1/status_service_pb.js";
import { status } from "../contract/clients.ts";
import { useQuery } from "../parts/calls/use-query.ts";

const refreshMs = 2000;

/** What is wrong with the service, as last heard. */
export const troubles = signal<readonly Trouble[]>([]);

/** Keeps what is wrong up to date while it is shown anywhere. Customers are not told. */
export function useTroubles(): void {
  useQuery(
    async (abort) => {
      troubles.value = (await status.getStatus({}, { signal: abort })).red;
    },
    [],
    refreshMs,
  );
}
