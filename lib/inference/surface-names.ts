/** The public surfaces, as receipts name them. */
export const publicSurfaces = ["chat", "messages"] as const;
export type PublicSurface = (typeof publicSurfaces)[number];

/** All surfaces that requests come through: the public ones, and the contract itself. */
export const surfaceNames = [...publicSurfaces, "grpc"] as const;
export type SurfaceName = (typeof surfaceNames)[number];
