import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { describe, test } from "@jest/globals";
import { CreateChatCompletionRequestSchema } from "#gen/tollgate/chat/v1/chat_completion_pb.js";
import { CreateMessageRequestSchema } from "#gen/tollgate/messages/v1/create_message_pb.js";
import { ListModelsRequestSchema } from "#gen/tollgate/messages/v1/model_pb.js";
import { findHeadFault, headText } from "#lib/door/head.ts";
import { readMediaType } from "#lib/text/media-type.ts";
import { readTokenBound } from "#src/services/limits/token-bound.ts";
import { generateRequest as generateFromChat } from "../../facades/chat/request/generate.ts";
import { isSameOrigin } from "../../facades/console/calls/same-origin.ts";
import { isPage } from "../../facades/console/pages/page-paths.ts";
import { readPending, readToken } from "../../facades/console/sessions/cookie.ts";
import { readHead } from "../../facades/http/connection/read-head.ts";
import { jsonDecoder } from "../../facades/http/json/decoder.ts";
import { clientAddress } from "../../facades/http/request/client-address.ts";
import { callHeaders } from "../../facades/http/request/credentials.ts";
import { queryReader } from "../../facades/http/request/query.ts";
import { readSession } from "../../facades/http/request/session.ts";
import { wantsPage } from "../../facades/http/site/page.ts";
import { sendFile } from "../../facades/http/site/static-files.ts";
import { generateRequest as generateFromMessages } from "../../facades/messages/request/generate.ts";
import { expectLinear } from "../support/work.ts";

// What a client sends costs work that grows with its bytes and not with their square: of a head, of paths and queries,
// and of bodies on their way to the core.

const names = [
  ...["accept", "accept-encoding", "authorization", "content-type", "cookie", "expect", "host", "origin"],
  ...["x-api-key", "x-forwarded-for", "x-session-id", "sec-fetch-site", "user-agent"],
] as const;

/** Pieces of texts that take long where an expression or a split tries them again from each place. */
const pieces = [" ", "\xa0", ";", ",", "; ", ", ", "=", "a", "A=", "0", "Bearer ", "q=0;", "[", ":", "%", "1.1.1.1,"];

/** Texts of many pieces alone, and between letters, where nothing trims them. */
function around(piece: string): ((size: number) => string)[] {
  const many = (size: number) => piece.repeat(size / piece.length);
  return [many, (size) => `x${many(size)}x`];
}

const encoded = new Map([["a.js", Buffer.from("1")]]);
const response = { writeHead() {}, end() {}, setHeader() {} } as unknown as ServerResponse;
const readQuery = queryReader(ListModelsRequestSchema);

/** Everything that reads a request's head. */
function readAll(request: IncomingMessage): void {
  const { headers } = request;
  findHeadFault(request);
  headText(request);
  callHeaders(request, "192.0.2.1", "authorization", "chat");
  clientAddress(request, () => true);
  readSession(headers);
  readMediaType(headers["content-type"] ?? "");
  readToken(request, "tls");
  readPending("oidc", request, "loopback");
  isSameOrigin(request, "loopback");
  wantsPage(request);
  sendFile(encoded, "a.js", request, response);
}

function requestWith(headers: IncomingHttpHeaders): IncomingMessage {
  const rawHeaders = Object.entries(headers).flatMap(([name, value]) => [name, String(value)]);
  return { headers, rawHeaders, method: "GET", socket: { remoteAddress: "127.0.0.1" } } as unknown as IncomingMessage;
}

describe("a head", () => {
  test.each(names)("with a long header %s", (name) => {
    for (const text of pieces.flatMap(around)) {
      expectLinear(16_000, (size) => readAll(requestWith({ [name]: text(size) })));
    }
  });

  test.each(["/a", "?a=1", "&a=1", "%61", "/", ".", "a.b/", "accounts/"])("with a path of many %s", (piece) => {
    expectLinear(16_000, (size) => {
      const path = `/${piece.repeat(size / piece.length)}`;
      isPage(path);
      try {
        readQuery(new URLSearchParams(path), {});
      } catch {}
    });
  });

  test.each(["A", "GET ", "a:", "a: \n", "\n", " ", "GET / HTTP/", "-"])("that is broken, of many %j", (piece) => {
    expectLinear(32_000, (size) => void readHead(piece.repeat(size / piece.length)));
  });
});

type Fill = (of: (item: (at: number) => string) => string) => string;

/** Bodies of many items. */
const chatBodies: Readonly<Record<string, Fill>> = {
  messages: (of) => `{"model":"m","messages":[${of(() => '{"role":"user","content":"a"}')}]}`,
  "parts of a message": (of) =>
    `{"model":"m","messages":[{"role":"user","content":[${of(() => '{"type":"text","text":"a"}')}]}]}`,
  tools: (of) =>
    `{"model":"m","messages":[{"role":"user","content":"a"}],"tools":[${of((at) => `{"type":"function","function":{"name":"f${at}","parameters":{"type":"object"}}}`)}]}`,
  "calls of tools": (of) =>
    `{"model":"m","messages":[{"role":"assistant","content":null,"tool_calls":[${of((at) => `{"id":"c${at}","type":"function","function":{"name":"f","arguments":"{}"}}`)}]}]}`,
  "answers of tools": (of) =>
    `{"model":"m","messages":[${of((at) => `{"role":"assistant","content":null,"tool_calls":[{"id":"c${at}","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c${at}","content":"a"}`)}]}`,
  "unknown fields": (of) =>
    `{"model":"m","messages":[{"role":"user","content":"a"}],${of((at) => `"unknown${at}":[{"a":1}]`)}}`,
  "the same field": (of) => `{"messages":[{"role":"user","content":"a"}],${of(() => '"model":"m"')}}`,
};

const messagesBodies: Readonly<Record<string, Fill>> = {
  messages: (of) =>
    `{"model":"m","max_tokens":1,"messages":[${of((at) => `{"role":"${at % 2 === 0 ? "user" : "assistant"}","content":"a"}`)}]}`,
  "blocks of a message": (of) =>
    `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[${of(() => '{"type":"text","text":"a"}')}]}]}`,
  "results of tools": (of) =>
    `{"model":"m","max_tokens":1,"messages":[{"role":"assistant","content":[${of((at) => `{"type":"tool_use","id":"t${at}","name":"f","input":{}}`)}]},{"role":"user","content":[${of((at) => `{"type":"tool_result","tool_use_id":"t${at}","content":"a"}`)}]}]}`,
  tools: (of) =>
    `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"a"}],"tools":[${of((at) => `{"name":"f${at}","input_schema":{"type":"object"}}`)}]}`,
  "blocks of the system prompt": (of) =>
    `{"model":"m","max_tokens":1,"system":[${of(() => '{"type":"text","text":"a"}')}],"messages":[{"role":"user","content":"a"}]}`,
};

const decodeChat = jsonDecoder(CreateChatCompletionRequestSchema);
const decodeMessages = jsonDecoder(CreateMessageRequestSchema);

function fill(size: number): (item: (at: number) => string) => string {
  return (item) => Array.from({ length: size }, (_, at) => item(at)).join(",");
}

/** A refusal for its size is work, too. */
function orRefused(work: () => void): void {
  try {
    work();
  } catch {}
}

describe("a body", () => {
  test.each(Object.entries(chatBodies))("of many %s in a chat", (_, body) => {
    const texts = new Map([1000, 2000].map((size) => [size, body(fill(size))]));
    expectLinear(1000, (size) =>
      orRefused(() => {
        readTokenBound(generateFromChat(decodeChat(JSON.parse(texts.get(size) ?? "")), "req_1", {}));
      }),
    );
  });

  test.each(["seed", "max_tokens", "temperature", "unknown"])("with %s of many digits", (field) => {
    const number = (size: number) => `${"9".repeat(size)}.${"9".repeat(size)}e${"9".repeat(size)}`;
    const texts = new Map([100_000, 200_000].map((size) => [size, `{"model":"m","${field}":${number(size)}}`]));
    expectLinear(100_000, (size) => orRefused(() => void decodeChat(JSON.parse(texts.get(size) ?? ""))));
  });

  test.each(Object.entries(messagesBodies))("of many %s in messages", (_, body) => {
    const texts = new Map([1000, 2000].map((size) => [size, body(fill(size))]));
    expectLinear(1000, (size) =>
      orRefused(() => {
        readTokenBound(generateFromMessages(decodeMessages(JSON.parse(texts.get(size) ?? "")), "req_1", {}));
      }),
    );
  });

  test.each([
    ["digits", (size: number) => "9".repeat(size)],
    ["digits after a point", (size: number) => `0.${"9".repeat(size)}`],
    ["escapes", (size: number) => `"${"\\u00e9".repeat(size / 6)}"`],
    ["halves of characters", (size: number) => `"${"\\ud800".repeat(size / 6)}"`],
    ["levels", (size: number) => "[".repeat(size / 2) + "]".repeat(size / 2)],
    ["white space", (size: number) => `${" ".repeat(size)}1`],
  ])("with a value of many %s", (_, value) => {
    const texts = new Map([500_000, 1_000_000].map((size) => [size, `{"max_tokens":${value(size)},"messages":[]}`]));
    expectLinear(500_000, (size) => orRefused(() => decodeChat(JSON.parse(texts.get(size) ?? ""))));
  });
});
