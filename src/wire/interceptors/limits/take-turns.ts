import type { Intake } from "#lib/overload/intake.ts";
import type { Gate } from "../../grpc/server/gate.ts";
import { peerKey } from "../../grpc/server/peer.ts";
import { overloaded } from "./overloaded.ts";
import { isShed } from "./shed-load.ts";

/**
 * Lets calls from outside begin in their turn, before their credential is checked. Calls from within the process have had
 * their turn at the public surface.
 */
export function takeTurns(gate: Gate, intake: Intake): Gate {
  return {
    ...gate,
    admit(head) {
      const peer = head.contextValues.get(peerKey);
      const turn =
        peer === undefined ? undefined : intake.enter(() => gate.clientOf?.(head) ?? peer, !isShed(head.method));
      return turn === undefined
        ? gate.admit(head)
        : turn.then((isTaken) => {
            if (!isTaken) {
              throw overloaded();
            }
            return gate.admit(head);
          });
    },
  };
}
