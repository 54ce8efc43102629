import { Code, createContextValues } from "@connectrpc/connect";
import { expect, test } from "@jest/globals";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import type { CallHead, Gate } from "#src/wire/grpc/server/gate.ts";
import { peerKey } from "#src/wire/grpc/server/peer.ts";
import { takeTurns } from "#src/wire/interceptors/limits/take-turns.ts";

const gate: Gate = { admit: () => "payer", judge: async () => {} };
const fromOutside = () => createContextValues().set(peerKey, "203.0.113.7");
const generate = (contextValues = fromOutside()): CallHead => ({
  method: InferenceService.method.generate,
  header: new Headers(),
  contextValues,
});

test("a caller's call is judged in its turn", async () => {
  const turn = Promise.withResolvers<boolean>();
  const admitted = takeTurns(gate, { enter: () => turn.promise }).admit(generate());
  expect(admitted).toBeInstanceOf(Promise);
  turn.resolve(true);
  expect(await admitted).toBe("payer");
});

test("a call whose turn begins at once costs no promise", () => {
  expect(takeTurns(gate, { enter: () => undefined }).admit(generate())).toBe("payer");
});

test("a call that is refused a turn is told when to come again", async () => {
  const refusal = await Promise.resolve(
    takeTurns(gate, { enter: () => Promise.resolve(false) }).admit(generate()),
  ).catch((error: unknown) => error);
  expect(refusal).toMatchObject({ code: Code.Unavailable });
  expect(readDetail(refusal)).toMatchObject({ reason: Reason.OVERLOADED, retryAfter: { seconds: 5n } });
});

test.each([
  ["an operator's call", { ...generate(), method: AccountsService.method.listAccounts }],
  ["a call from within the process", generate(createContextValues())],
])("%s waits for no turn", (_, head) => {
  expect(takeTurns(gate, { enter: () => Promise.resolve(false) }).admit(head)).toBe("payer");
});
