import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { StripeError } from "./error.ts";
import { readForm } from "./form.ts";
import { type Answer, type Host, routes } from "./routes.ts";

/** An answer of the API. */
export interface ApiReply {
  readonly status: number;
  readonly body: object;
  /** Whether it is the answer of an earlier request with the same idempotency key. */
  readonly isReplayed: boolean;
}

interface Kept extends ApiReply {
  readonly digest: string;
}

/** Stripe's API: checks the key, and answers a request with the same idempotency key as the first one. */
export class Api {
  readonly #host: Host;
  readonly #kept = new Map<string, Kept>();

  constructor(host: Host) {
    this.#host = host;
  }

  answer(request: IncomingMessage, path: string, query: string, body: string): ApiReply {
    const key = String(request.headers["idempotency-key"] ?? "");
    const digest = createHash("sha256").update(`${path}\n${body}`).digest("hex");
    const kept = request.method === "POST" && key !== "" ? this.#kept.get(key) : undefined;
    if (kept !== undefined) {
      return kept.digest === digest ? { ...kept, isReplayed: true } : reusedKey();
    }
    const reply = this.#run(request, path, request.method === "GET" ? query : body);
    if (request.method === "POST" && key !== "" && reply.status !== 401) {
      this.#kept.set(key, { ...reply, digest });
    }
    return reply;
  }

  #run(request: IncomingMessage, path: string, form: string): ApiReply {
    try {
      if (!isTestKey(request.headers.authorization)) {
        throw new StripeError(401, "invalid_request_error", "The stand-in takes keys that begin with sk_test_ alone.");
      }
      const [answer, id] = findRoute(request.method ?? "", path);
      return { status: 200, body: structuredClone(answer(this.#host, readForm(form), id)), isReplayed: false };
    } catch (error) {
      if (error instanceof StripeError) {
        return { status: error.status, body: structuredClone(error.body), isReplayed: false };
      }
      throw error;
    }
  }
}

function isTestKey(authorization = ""): boolean {
  const basic = /^Basic (.+)$/.exec(authorization)?.[1];
  const key = basic === undefined ? authorization.replace(/^Bearer /, "") : Buffer.from(basic, "base64").toString();
  return key.startsWith("sk_test_");
}

function findRoute(method: string, path: string): [answer: Answer, id: string] {
  const exact = routes[`${method} ${path}`];
  if (exact !== undefined) {
    return [exact, ""];
  }
  for (const [route, answer] of Object.entries(routes)) {
    const pattern = new RegExp(`^${route.replace(":id", "([^/]+)")}$`);
    const [, id] = pattern.exec(`${method} ${path}`) ?? [];
    if (id !== undefined) {
      return [answer, id];
    }
  }
  throw new StripeError(404, "invalid_request_error", `Unrecognized request URL (${method}: ${path}).`);
}

function reusedKey(): ApiReply {
  const { status, body } = new StripeError(
    400,
    "idempotency_error",
    "Keys for idempotent requests can only be used with the same parameters they were first used with.",
  );
  return { status, body, isReplayed: false };
}
