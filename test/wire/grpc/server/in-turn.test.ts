import { connect as connectHttp2, constants } from "node:http2";
import { connect } from "node:net";
import { expect, test } from "@jest/globals";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { Door } from "#lib/door/door.ts";
import { createHealth } from "#src/wire/grpc/server/health.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { eventually } from "../../../support/eventually.ts";
import { ScriptedService } from "../scripted-service.ts";
import { closing, gate, grpcDoor, openStream, readStatus, right, start, wrong } from "./doors.ts";

// Refused gRPC calls, from addresses that have 100 refusals at once, and 50 a second after that.

const mostWaiting = 8;

async function startDoor(options: { readonly connectionsPerAddress?: number; readonly trusts?: boolean } = {}) {
  const clock = new ManualClock();
  const refused: string[] = [];
  const limits = { connectionsPerAddress: options.connectionsPerAddress ?? 100 };
  const door = new Door({ listener: "grpc", clock, limits, onRefused: (_, bound) => refused.push(bound) });
  const { address } = await start(grpcDoor, {
    services: [registration(InferenceService, new ScriptedService({})), createHealth([]).registration],
    door,
    gate: options.trusts ? { ...gate, clientOf: () => "192.0.2.1" } : gate,
  });
  const [host = "", port] = address.split(":");
  const open = (localAddress = "127.8.0.1") => {
    const session = connectHttp2(`http://${address}`, {
      createConnection: () => connect({ host, port: Number(port), localAddress }),
    });
    session.on("error", () => {});
    closing.push(() => session.destroy());
    const call = (headers: Record<string, string>) => {
      const stream = openStream(session, "unary", headers);
      stream.end(Buffer.alloc(5));
      return readStatus(stream);
    };
    const callAll = (count: number, headers: Record<string, string>) =>
      Array.from({ length: count }, () => call(headers));
    return { session, call, callAll };
  };
  return { clock, refused, open };
}

const unserved = { [constants.HTTP2_HEADER_PATH]: "/nowhere.Service/Method" };

test.each([
  ["a wrong key", wrong, "unauthenticated"],
  ["a method that nobody serves", unserved, "unimplemented"],
])("%s is answered in its turn beyond the pace of its network, and nobody else waits", async (_, headers, code) => {
  const { clock, refused, open } = await startDoor();
  for (let times = 0; times < 2; times += 1) {
    const { callAll } = open();
    expect(await Promise.all(callAll(50, headers))).toEqual(Array(50).fill(code));
  }
  const { call } = open();
  let late: string | undefined;
  void call(headers).then((outcome) => {
    late = outcome;
  });
  await eventually("it waits", () => refused.includes("refusals"));
  expect(await open().call(right)).toBe("ok");
  expect(await open("127.8.1.1").call(headers)).toBe(code);
  expect(late).toBeUndefined();
  clock.advance(20);
  await eventually("its turn has come", () => late === code);
});

test("a connection with many refusals that wait is cut, and its client keeps a place for each until its turn", async () => {
  const { clock, refused, open } = await startDoor({ connectionsPerAddress: mostWaiting + 1 });
  await Promise.all(open("127.8.0.1").callAll(100, wrong));
  const { session, callAll } = open("127.8.0.1");
  callAll(50, wrong);
  await eventually("it is cut", () => session.destroyed);
  expect(refused.filter((bound) => bound === "refusals")).toHaveLength(mostWaiting + 1);
  await eventually("no further connection has a place", async () => {
    const next = open("127.8.0.1");
    return (await next.call(right)).startsWith("closed") && refused.includes("connections_per_address");
  });
  clock.advance(1000);
  await eventually("there is one", async () => (await open("127.8.0.1").call(right)) === "ok");
});

test("a call that its client resets while it waits does no harm", async () => {
  const { clock, refused, open } = await startDoor();
  await Promise.all(open().callAll(100, unserved));
  const { session } = open();
  const stream = openStream(session, "unary", unserved);
  await eventually("it waits", () => refused.includes("refusals"));
  stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  clock.advance(1000);
  await eventually("the port serves on", async () => (await open().call(right)) === "ok");
});

test("a facade's clients have had their turns at its own door", async () => {
  const { refused, open } = await startDoor({ trusts: true });
  const facade = open();
  for (let times = 0; times < 4; times += 1) {
    await Promise.all(facade.callAll(50, wrong));
    await facade.call(right);
  }
  expect(refused).toEqual([]);
});

test("health checks of a network, which nothing counts, wait for their turn beyond a pace", async () => {
  const { clock, refused, open } = await startDoor();
  const health = { ...right, [constants.HTTP2_HEADER_PATH]: "/grpc.health.v1.Health/Check" };
  for (let times = 0; times < 2; times += 1) {
    expect(await Promise.all(open().callAll(100, health))).toEqual(Array(100).fill("ok"));
  }
  const late = open().call(health);
  await eventually("it waits", () => refused.includes("uncounted"));
  expect(await open("127.8.1.1").call(health)).toBe("ok");
  clock.advance(10);
  expect(await late).toBe("ok");
});

test("a reflection stream has a turn of its network for each answer", async () => {
  const { clock, refused, open } = await startDoor();
  const { session } = open();
  const path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
  const stream = openStream(session, "stream", { ...right, [constants.HTTP2_HEADER_PATH]: path });
  let bytes = 0;
  stream.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
  });
  const list = Buffer.from([0, 0, 0, 0, 3, 0x3a, 1, 0x2a]);
  stream.write(list);
  await eventually("it is answered", () => bytes > 0);
  const each = bytes;
  stream.write(Buffer.concat(Array(200).fill(list)));
  await eventually("the burst is answered, and one waits", () => bytes === 200 * each && refused.length === 1);
  clock.advance(10);
  await eventually("its turn has come", () => bytes === 201 * each);
  expect(refused).toEqual(["uncounted"]);
});
