import type { GetCostsResponse } from "#gen/tollgate/chat/v1/cost_pb.js";
import type { RequestCost } from "#gen/tollgate/metering/v1/metering_service_pb.js";

const picoPerNano = 1000n;

/** What requests cost, in whole nano-USD: the exact sum of a request, rounded up once. */
export function toCosts(costs: readonly RequestCost[]): GetCostsResponse {
  return {
    $typeName: "tollgate.chat.v1.GetCostsResponse",
    requests: costs.map(({ requestId, costPicoUsd }) => ({
      $typeName: "tollgate.chat.v1.RequestCost",
      requestId,
      costNanoUsd: String((costPicoUsd + picoPerNano - 1n) / picoPerNano),
    })),
  };
}
