import { Access } from "#gen/tollgate/access/v1/access_pb.js";
import type { Intake } from "#lib/overload/intake.ts";
import type { CallHead, Gate } from "../../grpc/server/gate.ts";
import { peerKey } from "../../grpc/server/peer.ts";
import { readAccess } from "../access/required-access.ts";
import { overloaded } from "./overloaded.ts";

/**
 * Lets callers' calls from outside begin in their turn, before their credential is checked. Calls from within the process
 * have had their turn at the public surface.
 */
export function takeTurns(gate: Gate, intake: Intake): Gate {
  return {
    ...gate,
    admit(head) {
      const turn = waitsForTurn(head) ? intake.enter() : undefined;
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

function waitsForTurn({ method, contextValues }: CallHead): boolean {
  return contextValues.get(peerKey) !== undefined && readAccess(method) === Access.CALLER;
}
