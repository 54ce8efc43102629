import type { ServiceImpl } from "@connectrpc/connect";
import type { SessionsService } from "#gen/tollgate/sessions/v1/sessions_service_pb.js";
import type { Dependencies } from "./dependencies.ts";
import { createOpenings } from "./openings.ts";
import { createSessionMethods } from "./session-methods.ts";
import { createSignInMethods } from "./sign-in-methods.ts";

/** Signs people in to the console and out of it. */
export function createSessionsService(deps: Dependencies): ServiceImpl<typeof SessionsService> {
  const openings = createOpenings(deps);
  return { ...createSignInMethods(deps, openings), ...createSessionMethods(deps, openings) };
}
