import { type SurfaceName, surfaceNames } from "#lib/inference/surface-names.ts";
import { surfaceHeader } from "#lib/rpc/call-headers.ts";

/** The surface that a call came through: the one that a facade names, otherwise gRPC. */
export function readSurface(header: Headers): SurfaceName {
  const named = header.get(surfaceHeader);
  return surfaceNames.find((name) => name === named) ?? "grpc";
}
