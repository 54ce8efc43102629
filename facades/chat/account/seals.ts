import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ListSealsResponse } from "#gen/tollgate/chat/v1/seal_pb.js";
import type { Seal } from "#gen/tollgate/metering/v1/seal_pb.js";

/** Seals of days as customers see them. */
export function sealList(seals: readonly Seal[]): ListSealsResponse {
  return {
    $typeName: "tollgate.chat.v1.ListSealsResponse",
    data: seals.map(({ number, day, root, sums, chain, sealedAt }) => ({
      $typeName: "tollgate.chat.v1.Seal",
      number,
      day,
      root,
      sums,
      chain,
      sealedAt: sealedAt === undefined ? "" : timestampDate(sealedAt).toISOString(),
    })),
  };
}
