import { createChatSurface } from "./chat/surface.ts";
import type { Core } from "./http/core/core.ts";
import type { Surfaces } from "./http/routing/choose-surface.ts";
import { createMessagesSurface } from "./messages/surface.ts";

/** The public surfaces in the order in which they are asked whose client it is. A new one is its folder and a line here. */
export function createSurfaces(core: Core): Surfaces {
  return [
    createMessagesSurface(core),
    createChatSurface(core), // last: takes what no other recognizes
  ];
}
