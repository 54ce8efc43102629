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

test("an operator's call is patient: none is refused a turn", () => {
  const patience: boolean[] = [];
  const intake = {
    enter(_: unknown, isPatient = false) {
      patience.push(isPatient);
      return undefined;
    },
  };
  void takeTurns(gate, intake).admit(generate());
  void takeTurns(gate, intake).admit({ ...generate(), method: AccountsService.method.listAccounts });
  expect(patience).toEqual([false, true]);
});

test("a call from within the process waits for no turn", () => {
  const intake = { enter: () => Promise.resolve(false) };
  expect(takeTurns(gate, intake).admit(generate(createContextValues()))).toBe("payer");
});

test("a call waits in the line of its client, whom a trusted peer tells", () => {
  const asked: string[] = [];
  const intake = {
    enter(address: () => string) {
      asked.push(address());
      return undefined;
    },
  };
  void takeTurns(gate, intake).admit(generate());
  void takeTurns({ ...gate, clientOf: () => "198.51.100.1" }, intake).admit(generate());
  expect(asked).toEqual(["203.0.113.7", "198.51.100.1"]);
});
