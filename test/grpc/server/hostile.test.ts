import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2, constants } from "node:http2";
import { connect as connectTcp } from "node:net";
import { gzipSync } from "node:zlib";
import { toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { CountTokensRequestSchema, InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { failure } from "../../../lib/errors/failure.ts";
import type { Gate } from "../../../src/grpc/server/gate.ts";
import { startConnectServer } from "../../../src/grpc/server/http/connect-server.ts";
import type { ListeningServer, ServerOptions } from "../../../src/grpc/server/listening-server.ts";
import { Receiving } from "../../../src/grpc/server/receiving.ts";
import { registration } from "../../../src/grpc/server/registration.ts";
import { startGrpcServer } from "../../../src/grpc/server/server.ts";
import { observeCalls } from "../../../src/interceptors/observation/observe.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { eventually } from "../../support/eventually.ts";
import { ScriptedService, texts } from "../scripted-service.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) {
    await close();
  }
});

/** Lets the key "right" in. */
const gate: Gate = {
  async admit({ header }) {
    if (header.get("authorization") !== "right") {
      throw failure(Reason.UNAUTHENTICATED, "Unknown.");
    }
    return "payer";
  },
};

type Kind = "unary" | "stream";
type Format = "proto" | "json";

/** How a call ended: its code in lower case, as Connect writes it. */
type Outcome = string;

/** A call that a test sends piece by piece. */
interface RawCall {
  write(bytes: Uint8Array): void;
  end(): void;
  readonly outcome: Promise<Outcome>;
}

interface Door {
  readonly name: string;
  readonly formats: readonly Format[];
  start(options: ServerOptions): Promise<ListeningServer>;
  call(address: string, kind: Kind, format: Format, headers: Record<string, string>, encoding?: string): RawCall;
  /** A message with whatever frames it, and the flag of a compressed one. */
  frame(kind: Kind, message: Uint8Array, isCompressed?: boolean): Buffer;
}

const methods = { unary: "CountTokens", stream: "Generate" };
const pathTo = (kind: Kind) => `/${InferenceService.typeName}/${methods[kind]}`;

function envelope(message: Uint8Array, isCompressed = false): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(isCompressed ? 1 : 0, 0);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

const toSnakeCase = (name: string) => name.replace(/(?<=[a-z])[A-Z]/g, "_$&").toLowerCase();

const grpcDoor: Door = {
  name: "gRPC",
  formats: ["proto"],
  start: startGrpcServer,
  call(address, kind, _format, headers, encoding) {
    const session = connectHttp2(`http://${address}`);
    session.on("error", () => {});
    closing.push(() => session.destroy());
    const stream = openStream(session, kind, { ...headers, ...(encoding && { "grpc-encoding": encoding }) });
    return { write: (bytes) => void stream.write(bytes), end: () => void stream.end(), outcome: readStatus(stream) };
  },
  frame: (_kind, message, isCompressed) => envelope(message, isCompressed),
};

function openStream(session: ClientHttp2Session, kind: Kind, headers: Record<string, string>): ClientHttp2Stream {
  const stream = session.request({
    [constants.HTTP2_HEADER_METHOD]: "POST",
    [constants.HTTP2_HEADER_PATH]: pathTo(kind),
    "content-type": "application/grpc",
    te: "trailers",
    ...headers,
  });
  stream.on("error", () => {});
  stream.resume();
  return stream;
}

function readStatus(stream: ClientHttp2Stream): Promise<Outcome> {
  return new Promise((resolve) => {
    const onHeaders = (headers: Record<string, unknown>) => {
      const status = headers["grpc-status"];
      if (status !== undefined) {
        resolve(status === "0" ? "ok" : toSnakeCase(Code[Number(status)] ?? ""));
      }
    };
    stream.on("response", onHeaders).on("trailers", onHeaders);
    stream.on("close", () => resolve(`closed: ${stream.rstCode}`));
  });
}

const connectDoor: Door = {
  name: "Connect",
  formats: ["proto", "json"],
  start: startConnectServer,
  call(address, kind, format, headers, encoding) {
    const name = kind === "unary" ? "content-encoding" : "connect-content-encoding";
    const call = httpRequest(`http://${address}${pathTo(kind)}`, {
      method: "POST",
      agent: false, // a connection kept alive may be closed as idle by then
      headers: {
        "content-type": `application/${kind === "unary" ? "" : "connect+"}${format}`,
        ...headers,
        ...(encoding && { [name]: encoding }),
      },
    });
    call.flushHeaders();
    closing.push(() => call.destroy());
    const outcome = new Promise<Outcome>((resolve) => {
      call.on("error", (error) => resolve(`closed: ${error.message}`));
      call.on("response", (response) => void readAnswer(response).then(resolve));
    });
    return { write: (bytes) => void call.write(bytes), end: () => void call.end(), outcome };
  },
  frame: (kind, message, isCompressed) => (kind === "unary" ? Buffer.from(message) : envelope(message, isCompressed)),
};

async function readAnswer(response: IncomingMessage): Promise<Outcome> {
  const body = Buffer.concat(await response.toArray());
  const isUnary = response.headers["content-type"]?.includes("connect+") !== true;
  if (isUnary) {
    return response.statusCode === 200 ? "ok" : JSON.parse(body.toString()).code;
  }
  let at = 0;
  while (body.readUInt8(at) !== 2) {
    at += 5 + body.readUInt32BE(at + 1);
  }
  return JSON.parse(body.subarray(at + 5).toString()).error?.code ?? "ok";
}

const ways = [grpcDoor, connectDoor].flatMap((door) =>
  door.formats.flatMap((format) =>
    (["unary", "stream"] as const).map((kind) => [`${door.name}, ${kind}, ${format}`, door, kind, format] as const),
  ),
);

async function start(door: Door, options: Partial<ServerOptions> = {}) {
  const service = new ScriptedService({ generate: () => texts(["a"]) });
  const codes: Outcome[] = [];
  const observe = observeCalls(new ManualClock(), [
    ({ code }) => void codes.push(code === undefined ? "ok" : toSnakeCase(Code[code] ?? "")),
  ]);
  const services = [registration(InferenceService, service)];
  const server = await door.start({ address: "127.0.0.1:0", services, interceptors: [observe], gate, ...options });
  closing.push(() => server.stop(0));
  return { ...server, service, codes };
}

const right = { authorization: "right" };
const wrong = { authorization: "wrong" };
const empty = (format: Format) => Buffer.from(format === "json" ? "{}" : "");
const long = (format: Format, length: number) =>
  format === "json"
    ? Buffer.from(JSON.stringify({ model: "x".repeat(length) }))
    : Buffer.from(
        toBinary(CountTokensRequestSchema, {
          $typeName: CountTokensRequestSchema.typeName,
          model: "x".repeat(length),
        } as never),
      );

/** A message far beyond the limit that is small on its way. Made before any call: it takes long. */
const bombs = new Map((["proto", "json"] as const).map((format) => [format, gzipSync(long(format, 64 * 1024 * 1024))]));

describe.each(ways)("over %s", (_name, door, kind, format) => {
  test("a wrong key is refused before anything of the message is there, and observed", async () => {
    const { address, codes, service } = await start(door);
    expect(await door.call(address, kind, format, wrong).outcome).toBe("unauthenticated");
    expect(codes).toEqual(["unauthenticated"]);
    expect(service.started).toBe(0);
  });

  test("a right key is let in", async () => {
    const { address, codes } = await start(door);
    const call = door.call(address, kind, format, right);
    call.write(door.frame(kind, empty(format)));
    call.end();
    expect(await call.outcome).toBe("ok");
    expect(codes).toEqual(["ok"]);
  });

  test.each([
    ["bytes of no message", Buffer.from([0xff, 0xff, 0xff, 0xff])],
    ["a message that ends too early", Buffer.from([0x0a, 0x7f, 0x78])],
    ["text that is not JSON either", Buffer.from('{"model":')],
  ])("%s are the caller's fault", async (_what, bytes) => {
    const { address, service } = await start(door);
    const call = door.call(address, kind, format, right);
    call.write(door.frame(kind, bytes));
    call.end();
    expect(await call.outcome).toBe("invalid_argument");
    expect(service.started).toBe(0);
  });

  test("what is not compressed as its header says is the caller's fault", async () => {
    const { address } = await start(door);
    const call = door.call(address, kind, format, right, "gzip");
    call.write(door.frame(kind, Buffer.from("not gzip at all"), true));
    call.end();
    expect(await call.outcome).toBe("invalid_argument");
  });

  test("a compressed message is read, and one that inflates beyond the limit is refused", async () => {
    const { address, service } = await start(door);
    const fair = door.call(address, kind, format, right, "gzip");
    fair.write(door.frame(kind, gzipSync(empty(format)), true));
    fair.end();
    expect(await fair.outcome).toBe("ok");
    const bomb = door.call(address, kind, format, right, "gzip");
    bomb.write(door.frame(kind, bombs.get(format) ?? Buffer.of(), true));
    bomb.end();
    expect(await bomb.outcome).toBe("resource_exhausted");
    expect(service.started).toBe(1);
  });

  test("messages beyond the memory for them are refused while small ones get in", async () => {
    const receiving = new Receiving({
      totalBytes: 512 * 1024,
      payerBytes: 512 * 1024,
      reservedBytes: 128 * 1024,
      smallBytes: 1024,
    });
    const { address } = await start(door, { receiving });
    const message = door.frame(kind, long(format, 300 * 1024));
    const stalled = door.call(address, kind, format, right);
    stalled.write(message.subarray(0, -1));
    await eventually("it is received", () => receiving.bytes >= message.length - 1);
    const second = door.call(address, kind, format, right);
    second.write(message);
    second.end();
    expect(await second.outcome).toBe("unavailable");
    const small = door.call(address, kind, format, right);
    small.write(door.frame(kind, empty(format)));
    small.end();
    expect(await small.outcome).toBe("ok");
    stalled.write(message.subarray(-1));
    stalled.end();
    expect(await stalled.outcome).toBe("ok");
    expect(receiving.bytes).toBe(0);
  });

  test("a message that does not come is waited for within bounds", async () => {
    const clock = new ManualClock();
    const receiving = new Receiving({}, clock);
    const { address, service } = await start(door, { receiving });
    const call = door.call(address, kind, format, right);
    const message = door.frame(kind, long(format, 1000));
    call.write(message.subarray(0, 100));
    await eventually("its beginning is received", () => receiving.bytes >= 100);
    for (let second = 0; second < 12; second += 1) {
      clock.advance(1000);
    }
    expect(await call.outcome).toBe("deadline_exceeded");
    expect(receiving.bytes).toBe(0);
    expect(service.started).toBe(0);
  });
});

describe.each([grpcDoor, connectDoor])("the connections of $name", (door) => {
  test("are bounded for each address", async () => {
    const { address } = await start(door, { connections: { perAddress: 3 } });
    const [host = "", port] = address.split(":");
    const open = Array.from({ length: 4 }, () => connectTcp(Number(port), host).resume());
    closing.push(() => open.forEach((socket) => void socket.destroy()));
    for (const socket of open) {
      socket.on("error", () => {});
    }
    const [last] = open.slice(-1);
    if (last && !last.closed) {
      await once(last, "close");
    }
    expect(open.slice(0, 3).map(({ closed }) => closed)).toEqual([false, false, false]);
    open[0]?.destroy();
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

test("a connection over which somebody's call runs is not cut for wrong keys of others", async () => {
  const running = Promise.withResolvers<void>();
  const service = new ScriptedService({
    async *generate() {
      yield* texts(["a"]);
      await running.promise;
      yield* texts(["b"]);
    },
  });
  const { address } = await start(grpcDoor, { services: [registration(InferenceService, service)] });
  const session = connectHttp2(`http://${address}`).on("error", () => {});
  closing.push(() => session.destroy());
  const stream = openStream(session, "stream", right);
  const outcome = readStatus(stream);
  stream.end(envelope(Buffer.alloc(0)));
  await once(stream, "response");
  for (let i = 0; i < 300; i++) {
    expect(await readStatus(openStream(session, "unary", wrong))).toBe("unauthenticated");
  }
  running.resolve();
  expect(await outcome).toBe("ok");
});
