import type { Dialect, Routes } from "../dialects/dialect.ts";
import type { Setup } from "../options.ts";
import { addFault, clearFaults } from "./admin.ts";
import { embeddings } from "./embed.ts";
import { chat, completion } from "./generate.ts";

/** All endpoints of a server in a dialect. */
export function listRoutes(dialect: Dialect, { metrics }: Setup): Routes {
  const own = Object.entries(dialect.routes).filter(([route]) => metrics || !route.endsWith("/metrics"));
  return {
    "POST /v1/chat/completions": chat,
    "POST /v1/completions": completion,
    "POST /v1/embeddings": embeddings,
    ...Object.fromEntries(own),
    "POST /sim/faults": addFault,
    "DELETE /sim/faults": clearFaults,
  };
}
