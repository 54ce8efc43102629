import { once } from "node:events";
import { connect as connectHttp2, constants } from "node:http2";
import { connect as connectTcp } from "node:net";
import { ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "@jest/globals";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { Door } from "#lib/door/door.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { eventually } from "../../../support/eventually.ts";
import { ScriptedService, texts } from "../scripted-service.ts";
import {
  closing,
  connectDoor,
  empty,
  envelope,
  gate,
  grpcDoor,
  openStream,
  readStatus,
  right,
  start,
  wrong,
} from "./doors.ts";

describe.each([grpcDoor, connectDoor])("the connections of $name", (door) => {
  test("are bounded for each address", async () => {
    const { address } = await start(door, {
      door: new Door({ listener: "grpc", limits: { connections: 6, connectionsPerAddress: 3 } }),
    });
    const [host = "", port] = address.split(":");
    const open = Array.from({ length: 4 }, () => connectTcp(Number(port), host).resume());
    closing.push(() => open.forEach((socket) => void socket.destroy()));
    for (const socket of open) {
      socket.on("error", () => {});
    }
    const kept = () => open.filter(({ closed }) => !closed);
    await eventually("one of them is closed", () => kept().length === 3);
    kept()[0]?.destroy();
    await eventually("another one gets in", async () => {
      const call = door.call(address, "unary", "proto", right);
      call.write(door.frame("unary", empty("proto")));
      call.end();
      return (await call.outcome) === "ok";
    });
  });
});

test("a connection takes 256 gRPC calls at a time", async () => {
  const { address } = await start(grpcDoor);
  const session = connectHttp2(`http://${address}`);
  closing.push(() => session.destroy());
  await once(session, "remoteSettings");
  expect(session.remoteSettings.maxConcurrentStreams).toBe(256);
});

test("a refused gRPC call that its client never ends is ended", async () => {
  const { address } = await start(grpcDoor);
  const session = connectHttp2(`http://${address}`);
  closing.push(() => session.destroy());
  const stream = openStream(session, "stream", wrong);
  stream.write(envelope(Buffer.alloc(10)));
  await once(stream, "close");
  expect(ConnectError.from(stream.errored ?? new Error("none")).rawMessage).toBe("none");
});

test.each([
  ["and resets each", true],
  ["and waits for nothing", false],
])("a connection that brings wrong keys alone %s is cut, and others go on", async (_, isReset) => {
  const { address } = await start(grpcDoor);
  const session = connectHttp2(`http://${address}`).on("error", () => {});
  closing.push(() => session.destroy());
  const closed = once(session, "close");
  const deadline = Date.now() + 40_000;
  while (!session.destroyed && Date.now() < deadline) {
    const stream = openStream(session, "unary", wrong);
    await new Promise((next) => setImmediate(next));
    if (isReset) {
      stream.close(constants.NGHTTP2_CANCEL);
    }
  }
  await closed;
  const call = grpcDoor.call(address, "unary", "proto", right);
  call.write(grpcDoor.frame("unary", empty("proto")));
  call.end();
  expect(await call.outcome).toBe("ok");
});

/** A connection of strangers or of a trusted peer, over which a call runs until it is told to end. */
async function openWithRunningCall(isTrusted: boolean) {
  const running = Promise.withResolvers<void>();
  const service = new ScriptedService({
    async *generate() {
      yield* texts(["a"]);
      await running.promise;
      yield* texts(["b"]);
    },
  });
  const { address } = await start(grpcDoor, {
    services: [registration(InferenceService, service)],
    gate: { ...gate, forwards: () => isTrusted },
  });
  const session = connectHttp2(`http://${address}`).on("error", () => {});
  closing.push(() => session.destroy());
  const stream = openStream(session, "stream", right);
  const outcome = readStatus(stream);
  stream.end(envelope(Buffer.alloc(0)));
  await once(stream, "response");
  return { session, outcome, end: running.resolve };
}

test("a connection over which somebody's call runs is not cut for wrong keys of others", async () => {
  const { session, outcome, end } = await openWithRunningCall(false);
  for (let i = 0; i < 300; i++) {
    expect(await readStatus(openStream(session, "unary", wrong))).toBe("unauthenticated");
  }
  end();
  expect(await outcome).toBe("ok");
});

test.each([
  ["a trusted peer's connection is not cut for clients that leave, however many", true, /^ok$/],
  ["a stranger's connection is cut for as many calls that end early", false, /^closed/],
])("%s", async (_, isTrusted, expected) => {
  const { session, outcome, end } = await openWithRunningCall(isTrusted);
  for (let i = 0; i < 1500 && !session.destroyed; i++) {
    const left = openStream(session, "unary", right);
    await new Promise((next) => setImmediate(next));
    left.close(constants.NGHTTP2_CANCEL);
  }
  end();
  expect(await outcome).toMatch(expected);
});
