import { surfaceHeader } from "../../lib/rpc/call-headers.ts";
import { type SurfaceName, surfaceNames } from "../../lib/surface-names.ts";

/** The door that a call came through: what a facade says, else this contract itself. */
export function readSurface(header: Headers): SurfaceName {
  const named = header.get(surfaceHeader);
  return surfaceNames.find((name) => name === named) ?? "grpc";
}
