import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import type { Session } from "#gen/tollgate/sessions/v1/session_pb.js";
import { SessionsService } from "#gen/tollgate/sessions/v1/sessions_service_pb.js";
import { clientAddressHeader, requestIdHeader } from "#lib/rpc/call-headers.ts";
import { createClient } from "#lib/rpc/client.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { CallHead, Gate } from "#src/wire/grpc/server/gate.ts";

/** Milliseconds for which the core's answer about a session is believed. The core itself judges each call anew. */
const trustMs = 5000;
/** The sessions that are remembered. */
const mostKnown = 1000;

interface Known {
  readonly payer: string;
  readonly until: number;
}

/**
 * Asks the core on the head of a page's call whose session it is, so that nothing of a body is read for a made-up
 * cookie, and each person has a share of the memory for bodies of their own.
 */
export function createConsoleGate(transport: Transport, clock: Pick<Clock, "monotonic">): Gate {
  const sessions = createClient(SessionsService, transport);
  const known = new Map<string, Known>();
  const ask = async ({ header }: CallHead, credential: string): Promise<string> => {
    const address = header.get(clientAddressHeader);
    const id = header.get(requestIdHeader);
    const headers = {
      authorization: credential,
      ...(address !== null && { [clientAddressHeader]: address }),
      ...(id !== null && { [requestIdHeader]: id }),
    };
    const { session } = await sessions.getSession({}, { headers });
    if (session === undefined) {
      throw new ConnectError("The session has ended.", Code.Unauthenticated);
    }
    const [oldest] = known.keys();
    if (known.size >= mostKnown && oldest !== undefined) {
      known.delete(oldest);
    }
    const payer = payerOf(session);
    known.set(credential, { payer, until: clock.monotonic() + trustMs });
    return payer;
  };
  return {
    admit(head) {
      const credential = head.header.get("authorization") ?? "";
      const found = known.get(credential);
      if (found !== undefined && found.until > clock.monotonic()) {
        return found.payer;
      }
      known.delete(credential);
      return ask(head, credential);
    },
    judge: async () => {}, // the core judges the streams that it sends
  };
}

function payerOf({ accountId, operatorName, personId }: Session): string {
  return accountId || (operatorName === "" ? `person ${personId}` : `operator ${operatorName}`);
}
