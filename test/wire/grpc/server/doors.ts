import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2, constants } from "node:http2";
import { toBinary } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { afterEach } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { CountTokensRequestSchema, InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { Gate } from "#src/wire/grpc/server/gate.ts";
import { startConnectServer } from "#src/wire/grpc/server/http/connect-server.ts";
import type { ListeningServer, ServerOptions } from "#src/wire/grpc/server/listening-server.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { startGrpcServer } from "#src/wire/grpc/server/server.ts";
import { observeCalls } from "#src/wire/interceptors/observation/observe.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { ScriptedService, texts } from "../scripted-service.ts";

/** What a test has opened, closed after it in reverse order. */
export const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) {
    await close();
  }
});

/** Lets the key "right" in. */
export const gate: Gate = {
  async admit({ header }) {
    if (header.get("authorization") !== "right") {
      throw failure(Reason.UNAUTHENTICATED, "Unknown.");
    }
    return "payer";
  },
  judge: async () => {},
};

export type Kind = "unary" | "stream";
export type Format = "proto" | "json";

/** How a call ended: its code in lower case, as Connect writes it. */
export type Outcome = string;

/** A call that a test sends piece by piece. */
export interface RawCall {
  write(bytes: Uint8Array): void;
  end(): void;
  readonly outcome: Promise<Outcome>;
  /** The `x-request-id` of the answer's headers, or of its trailers. */
  readonly id: Promise<unknown>;
}

export interface Door {
  readonly name: string;
  readonly formats: readonly Format[];
  start(options: ServerOptions): Promise<ListeningServer>;
  call(address: string, kind: Kind, format: Format, headers: Record<string, string>, encoding?: string): RawCall;
  /** A message with whatever frames it, and the flag of a compressed one. */
  frame(kind: Kind, message: Uint8Array, isCompressed?: boolean): Buffer;
}

const methods = { unary: "CountTokens", stream: "Generate" };
export const pathTo = (kind: Kind) => `/${InferenceService.typeName}/${methods[kind]}`;

export function envelope(message: Uint8Array, isCompressed = false): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(isCompressed ? 1 : 0, 0);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

const toSnakeCase = (name: string) => name.replace(/(?<=[a-z])[A-Z]/g, "_$&").toLowerCase();

export const grpcDoor: Door = {
  name: "gRPC",
  formats: ["proto"],
  start: startGrpcServer,
  call(address, kind, _format, headers, encoding) {
    const session = connectHttp2(`http://${address}`);
    session.on("error", () => {});
    closing.push(() => session.destroy());
    const stream = openStream(session, kind, { ...headers, ...(encoding && { "grpc-encoding": encoding }) });
    return {
      write: (bytes) => void stream.write(bytes),
      end: () => void stream.end(),
      outcome: readStatus(stream),
      id: readId(stream),
    };
  },
  frame: (_kind, message, isCompressed) => envelope(message, isCompressed),
};

export function openStream(
  session: ClientHttp2Session,
  kind: Kind,
  headers: Record<string, string>,
): ClientHttp2Stream {
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

export function readStatus(stream: ClientHttp2Stream): Promise<Outcome> {
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

function readId(stream: ClientHttp2Stream): Promise<unknown> {
  return new Promise((resolve) => {
    let id: unknown;
    const onHeaders = (headers: Record<string, unknown>) => {
      id ??= headers["x-request-id"];
    };
    stream.on("response", onHeaders).on("trailers", onHeaders);
    stream.on("close", () => resolve(id));
  });
}

export const connectDoor: Door = {
  name: "Connect",
  formats: ["proto", "json"],
  start: startConnectServer,
  call(address, kind, format, headers, encoding) {
    const name = kind === "unary" ? "content-encoding" : "connect-content-encoding";
    // Of its own: a connection kept from an earlier call may be closed as idle by then. Kept: or the port would not read the rest.
    const agent = new Agent({ keepAlive: true });
    closing.push(() => agent.destroy());
    const call = httpRequest(`http://${address}${pathTo(kind)}`, {
      method: "POST",
      agent,
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
    const id = new Promise((resolve) => call.on("response", ({ headers }) => resolve(headers["x-request-id"])));
    return { write: (bytes) => void call.write(bytes), end: () => void call.end(), outcome, id };
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

export const ways = [grpcDoor, connectDoor].flatMap((door) =>
  door.formats.flatMap((format) =>
    (["unary", "stream"] as const).map((kind) => [`${door.name}, ${kind}, ${format}`, door, kind, format] as const),
  ),
);

export async function start(door: Door, options: Partial<ServerOptions> = {}) {
  const service = new ScriptedService({ generate: () => texts(["a"]) });
  const codes: Outcome[] = [];
  const ids: string[] = [];
  const reasons: (string | undefined)[] = [];
  const observe = observeCalls(new ManualClock(), [
    ({ code, requestId, reason }) => {
      codes.push(code === undefined ? "ok" : toSnakeCase(Code[code] ?? ""));
      ids.push(requestId);
      reasons.push(reason === undefined ? undefined : Reason[reason]);
    },
  ]);
  const services = [registration(InferenceService, service)];
  const server = await door.start({ address: "127.0.0.1:0", services, interceptors: [observe], gate, ...options });
  closing.push(() => server.stop(0));
  return { ...server, service, codes, ids, reasons };
}

export const right = { authorization: "right" };
export const wrong = { authorization: "wrong" };
export const empty = (format: Format) => Buffer.from(format === "json" ? "{}" : "");
export const long = (format: Format, length: number) =>
  format === "json"
    ? Buffer.from(JSON.stringify({ model: "x".repeat(length) }))
    : Buffer.from(
        toBinary(CountTokensRequestSchema, {
          $typeName: CountTokensRequestSchema.typeName,
          model: "x".repeat(length),
        } as never),
      );
