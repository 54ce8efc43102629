import type { RequestHead, Surface } from "./surface.ts";

/** Surfaces in the order in which they are asked. The last one takes what no other recognizes. */
export type Surfaces = readonly [...Surface[], Surface];

/** Chooses the surface of a request. */
export type Choose = (request: RequestHead) => Surface;

/** The surface that answers a request: the path's owner, or else the first that recognizes the client. */
export function chooseSurface(surfaces: Surfaces, request: RequestHead): Surface {
  const [path = ""] = request.url?.split("?", 1) ?? [];
  const owners = surfaces.filter((surface) => owns(surface, path));
  const candidates = owners.length === 0 ? surfaces : owners;
  return candidates.find((surface) => surface.recognizes(request)) ?? (candidates.at(-1) as Surface);
}

/** The message for an unknown path, in its surface's terms. */
export function unknownPath({ unavailable }: Surface, method: string, path: string): string {
  const feature = Object.entries(unavailable).find(([start]) => isBelow(path, start))?.[1];
  return feature === undefined
    ? `There is no endpoint ${method} ${path}.`
    : `The ${feature} is not available on this service (${method} ${path}).`;
}

function owns({ claims, unavailable }: Surface, path: string): boolean {
  return claims.some((start) => isBelow(path, start)) || Object.keys(unavailable).some((start) => isBelow(path, start));
}

function isBelow(path: string, start: string): boolean {
  return path === start || path.startsWith(`${start}/`);
}
