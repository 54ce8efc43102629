import { createChatSurface } from "./chat/surface.ts";
import type { CoreClients } from "./http/core/core-clients.ts";
import type { ReadLabels } from "./http/request/labels.ts";
import type { Surfaces } from "./http/routing/choose-surface.ts";
import { createMessagesSurface } from "./messages/surface.ts";

/**
 * The public surfaces, in the order in which they are asked whether a client is theirs. A new surface needs its folder,
 * its name and a row here.
 */
export function createSurfaces(core: CoreClients, readLabels: ReadLabels): Surfaces {
  return [
    createMessagesSurface(core, readLabels),
    createChatSurface(core, readLabels), // last: takes what no other recognizes
  ];
}
