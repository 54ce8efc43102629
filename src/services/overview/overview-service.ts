import type { ServiceImpl } from "@connectrpc/connect";
import type { OverviewService } from "#gen/tollgate/overview/v1/overview_service_pb.js";
import type { Sampler } from "./sampler.ts";

/** Streams a core's live figures. */
export function createOverviewService(sampler: Pick<Sampler, "watch">): ServiceImpl<typeof OverviewService> {
  return {
    async *watchOverview(_, { signal }) {
      for await (const samples of sampler.watch(signal)) {
        yield { samples };
      }
    },
  };
}
