import type { ServiceImpl } from "@connectrpc/connect";
import type { OverviewService } from "#gen/tollgate/overview/v1/overview_service_pb.js";
import type { readSteps } from "./history/history.ts";
import type { Sampler } from "./sampler.ts";

const dayS = 86_400;

/** Streams a core's live figures, and tells those of all cores from before. */
export function createOverviewService(
  sampler: Pick<Sampler, "watch">,
  read: (spanS: number) => ReturnType<typeof readSteps>,
): ServiceImpl<typeof OverviewService> {
  return {
    async getHistory({ spanSeconds }) {
      const { stepS, samples } = await read(spanSeconds || dayS);
      return { samples, stepSeconds: stepS };
    },

    async *watchOverview(_, { signal }) {
      for await (const samples of sampler.watch(signal)) {
        yield { samples };
      }
    },
  };
}
