import type { MessageInitShape } from "@bufbuild/protobuf";
import { createContextValues } from "@connectrpc/connect";
import { expect, test } from "@jest/globals";
import { Role } from "#gen/tollgate/access/v1/access_pb.js";
import type { SessionSchema } from "#gen/tollgate/sessions/v1/session_pb.js";
import { SessionsService } from "#gen/tollgate/sessions/v1/sessions_service_pb.js";
import { createConsoleGate } from "#src/compose/console-gate.ts";
import { createDirectTransport } from "#src/wire/grpc/direct/direct-transport.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { ManualClock } from "../support/clocks/manual-clock.ts";

const sessions: Readonly<Record<string, MessageInitShape<typeof SessionSchema>>> = {
  key: { accountId: "acc_1", keyId: "key_1" },
  member: { accountId: "acc_1", personId: "per_1" },
  neighbour: { accountId: "acc_2", personId: "per_2" },
  token: { operatorName: "root", role: Role.OWNER },
  office: { operatorName: "alice", role: Role.BILLING, personId: "per_3" },
  invited: { personId: "per_4" },
  stranger: { personId: "per_5" },
};

test("each account, operator and person without an account has a share of its own", async () => {
  const service = registration(SessionsService, {
    getSession: (_request, { requestHeader }) => ({ session: sessions[requestHeader.get("authorization") ?? ""] }),
  });
  const transport = createDirectTransport([service], []);
  const gate = createConsoleGate(transport, new ManualClock());
  const admit = (authorization: string) => {
    const header = new Headers({ authorization });
    return gate.admit({ method: SessionsService.method.getSession, header, contextValues: createContextValues() });
  };
  const payers = await Promise.all(Object.keys(sessions).map(admit));
  expect(payers).toEqual([
    "acc_1",
    "acc_1",
    "acc_2",
    "operator root",
    "operator alice",
    "person per_4",
    "person per_5",
  ]);
  expect(await admit("invited")).toBe("person per_4");
  await expect(admit("ended")).rejects.toThrow("The session has ended.");
});
