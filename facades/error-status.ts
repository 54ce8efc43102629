import type { ConnectError } from "@connectrpc/connect";
import type { PublicSurface } from "#lib/inference/surface-names.ts";
import { errorOf as chatErrorOf } from "./chat/errors.ts";
import type { ErrorAnswer } from "./http/routing/surface.ts";
import { errorOf as messagesErrorOf } from "./messages/errors.ts";

const errorsOf: Readonly<Record<PublicSurface, (error: unknown, requestId: string) => ErrorAnswer>> = {
  chat: chatErrorOf,
  messages: messagesErrorOf,
};

/** The status with which a surface answers an error of the core. */
export function errorStatus(surface: PublicSurface, error: ConnectError): number {
  return errorsOf[surface](error, "").status;
}
