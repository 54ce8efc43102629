import { type SurfaceName, surfaceNames } from "../storage/entities/metering/usage.ts";

/** Where a facade says which of its surfaces a request came through. */
const surfaceHeader = "x-tollgate-surface";

/** The door that a call came through: what a facade says, else this contract itself. */
export function readSurface(header: Headers): SurfaceName {
  const named = header.get(surfaceHeader);
  return surfaceNames.find((name) => name === named) ?? "grpc";
}
