import { systemRandom } from "#lib/ids/random.ts";
import { newLinkToken, newSessionToken, toCookie } from "#src/identity/sessions/session-token.ts";
import { type Attack, refusedBy } from "./attack.ts";
import { ask, callGrpc, hold, open } from "./wire.ts";

/** Addresses of one attacker's networks: `network` is a /24. */
const from = (at: number, network = 0) => `127.9.${network}.${1 + (at % 250)}`;

const many = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));

const newCookie = () => toCookie(newSessionToken(systemRandom), "of another service");
const wrongKey = () => `tg-${newSessionToken(systemRandom).slice("tgse_".length)}`;
const json = { "content-type": "application/json" };
const connectJson = { ...json, "connect-protocol-version": "1" };
const chat = (content: string) =>
  JSON.stringify({ model: "tollgate-sim/plain", max_tokens: 1, messages: [{ role: "user", content }] });

const holdMs = 2000;

/** The attacks of `npm run attack`, by name. */
export const attacks: readonly Attack[] = [
  {
    name: "sign-ins",
    what: "one free key opens sessions over the Connect port, 32 at a time",
    shown: [refusedBy("connect", "rate")],
    async burst({ addresses, freeKey }) {
      const path = "/tollgate.sessions.v1.SessionsService/CreateSession";
      const headers = { ...connectJson, authorization: `Bearer ${freeKey}` };
      await Promise.all(
        many(32, (at) => ask({ to: addresses.connect, from: from(at), method: "POST", path, headers, body: "{}" })),
      );
    },
  },
  {
    name: "links",
    what: "links with right checksums that were never made, 32 at a time",
    shown: [refusedBy("console", "rate")],
    async burst({ addresses }) {
      await Promise.all(
        many(32, () => ask({ to: addresses.console, from: from(0, 1), path: `/link/${newLinkToken(systemRandom)}` })),
      );
    },
  },
  {
    name: "wrong-keys",
    what: "keys with right checksums that were never made, 32 at a time",
    shown: [refusedBy("public", "credentials")],
    async burst({ addresses }) {
      const body = chat("hello");
      await Promise.all(
        many(32, () => {
          const headers = { ...json, authorization: `Bearer ${wrongKey()}` };
          return ask({
            to: addresses.http,
            from: from(0, 2),
            method: "POST",
            path: "/v1/chat/completions",
            headers,
            body,
          });
        }),
      );
    },
  },
  {
    name: "grpc-wrong-keys",
    what: "the same over the gRPC port, 90 calls on each of 8 connections",
    shown: [refusedBy("grpc", "credentials"), refusedBy("grpc", "refusals")],
    async burst({ addresses }) {
      await Promise.all(
        many(8, () => {
          const path = "/tollgate.inference.v1.InferenceService/Generate";
          return callGrpc(
            addresses.grpc,
            from(0, 17),
            path,
            many(90, () => `Bearer ${wrongKey()}`),
          );
        }),
      );
    },
  },
  {
    name: "grpc-unserved",
    what: "methods that nobody serves, 90 calls on each of 8 gRPC connections",
    shown: [refusedBy("grpc", "refusals")],
    async burst({ addresses }) {
      await Promise.all(
        many(8, () =>
          callGrpc(
            addresses.grpc,
            from(0, 18),
            "/nowhere.Service/Method",
            many(90, () => ""),
          ),
        ),
      );
    },
  },
  {
    name: "wrong-sessions",
    what: "cookies of sessions that were never opened, 32 at a time",
    shown: [refusedBy("console", "credentials")],
    async burst({ addresses }) {
      await Promise.all(
        many(32, () => {
          const headers = { cookie: `__Host-tollgate=${newCookie()}`, "sec-fetch-site": "same-origin" };
          return ask({ to: addresses.console, from: from(0, 3), path: "/session", headers });
        }),
      );
    },
  },
  {
    name: "keyless-reads",
    what: "GET /v1/models without a key, 64 at a time",
    shown: [refusedBy("public", "rate")],
    async burst({ addresses }) {
      await Promise.all(many(64, () => ask({ to: addresses.http, from: from(0, 4), path: "/v1/models" })));
    },
  },
  {
    name: "long-header",
    what: "31.5 KB of no-break spaces as a media type, 8 at a time",
    shown: [refusedBy("public", "refusals")],
    async burst({ addresses }) {
      const head = Buffer.from(
        `POST /v1/chat/completions HTTP/1.1\r\nhost: t\r\ncontent-length: 2\r\nconnection: close\r\ncontent-type: ${"\u00a0".repeat(31_500)}\r\n\r\n{}`,
        "latin1",
      );
      await hold(
        many(8, () => open(addresses.http, from(0, 5), head).resume()),
        holdMs,
      );
    },
  },
  {
    name: "unfinished-heads",
    what: "600 connections of one address whose head never ends",
    shown: [refusedBy("public", "connections_per_address")],
    async burst({ addresses }) {
      const head = "POST /v1/chat/completions HTTP/1.1\r\nhost: t\r\nx-slow: ";
      await hold(
        many(600, () => open(addresses.http, from(0, 6), head)),
        holdMs,
      );
    },
  },
  {
    name: "pipelining",
    what: "50 connections with 61 KB of requests each, unread",
    shown: [refusedBy("public", "pipeline")],
    async burst({ addresses }) {
      const requests = "GET /v1/models HTTP/1.1\r\nhost: t\r\n\r\n".repeat(1700);
      await hold(
        many(50, (at) => open(addresses.http, from(at, 7), requests).pause()),
        holdMs,
      );
    },
  },
  {
    name: "payments-pipelining",
    what: "the same on the port of payment events",
    shown: [refusedBy("payments", "pipeline")],
    async burst({ addresses }) {
      const requests = "GET /webhooks/stripe HTTP/1.1\r\nhost: t\r\n\r\n".repeat(1500);
      await hold(
        many(50, (at) => open(addresses.webhooks, from(at, 8), requests).pause()),
        holdMs,
      );
    },
  },
  {
    name: "console-bodies",
    what: "18 bodies of 4 MiB with made-up cookies, begun and never ended",
    shown: [refusedBy("console", "credentials")],
    async burst({ addresses }) {
      const head = () =>
        `POST /tollgate.accounts.v1.AccountsService/ListAccounts HTTP/1.1\r\nhost: t\r\nsec-fetch-site: same-origin\r\nconnect-protocol-version: 1\r\ncontent-type: application/proto\r\ncookie: __Host-tollgate=${newCookie()}\r\ncontent-length: 4194304\r\n\r\n`;
      await hold(
        many(18, () => open(addresses.console, from(0, 9), head() + "x".repeat(65_536))),
        holdMs,
      );
    },
  },
  {
    name: "small-bodies",
    what: "480 bodies of 33 KB from five networks, whose ends never come",
    shown: [refusedBy("public", "bodies")],
    async burst({ addresses }) {
      const begun = `POST /v1/chat/completions HTTP/1.1\r\nhost: t\r\nauthorization: Bearer ${wrongKey()}\r\ncontent-type: application/json\r\ncontent-length: 33000\r\n\r\n${" ".repeat(30_000)}`;
      await hold(
        many(480, (at) => open(addresses.http, from(at, 10 + (at % 5)), begun)),
        holdMs,
      );
    },
  },
  {
    name: "beyond-rate",
    what: "one free key beyond its rate, with bodies of 2 MB, 8 at a time",
    shown: [
      { metric: "tollgate_limit_refusals_total", labels: { limit: "requests" } },
      refusedBy("public", "unwanted"),
    ],
    async burst({ addresses, freeKey }) {
      const headers = { ...json, authorization: `Bearer ${freeKey}` };
      const body = chat("x".repeat(1_900_000));
      const path = "/v1/chat/completions";
      await Promise.all(
        many(8, (at) => ask({ to: addresses.http, from: from(at, 16), method: "POST", path, headers, body })),
      );
    },
  },
  {
    name: "new-connections",
    what: "connections that ask once and are closed, 64 at a time",
    shown: [refusedBy("public", "connection_rate")],
    async burst({ addresses }) {
      const ask = "GET /health HTTP/1.1\r\nhost: t\r\nconnection: close\r\n\r\n";
      await hold(
        many(64, () => open(addresses.http, from(0, 19), ask).resume()),
        holdMs,
      );
    },
  },
  {
    name: "uncounted-pages",
    what: "pages that need no key and ask the core nothing, 64 at a time, of two ports",
    shown: [refusedBy("public", "uncounted"), refusedBy("console", "uncounted")],
    async burst({ addresses }) {
      await Promise.all([
        ...many(64, () => ask({ to: addresses.http, from: from(0, 20), path: "/robots.txt" })),
        ...many(64, () => ask({ to: addresses.console, from: from(0, 20), path: "/overview" })),
      ]);
    },
  },
  {
    name: "grpc-health",
    what: "health checks, 90 calls on each of 8 gRPC connections",
    shown: [refusedBy("grpc", "uncounted")],
    async burst({ addresses }) {
      const path = "/grpc.health.v1.Health/Check";
      await Promise.all(
        many(8, () =>
          callGrpc(
            addresses.grpc,
            from(0, 21),
            path,
            many(90, () => ""),
          ),
        ),
      );
    },
  },
  {
    name: "grpc-reflection",
    what: "2,000 questions on each of 4 streams of gRPC's reflection",
    shown: [refusedBy("grpc", "uncounted")],
    async burst({ addresses }) {
      const path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
      const services = Buffer.from([0, 0, 0, 0, 3, 0x3a, 1, 0x2a]);
      const body = Buffer.concat(many(2000, () => services));
      await Promise.all(many(4, () => callGrpc(addresses.grpc, from(0, 22), path, [""], { body, mostMs: holdMs })));
    },
  },
  {
    name: "managed-keys",
    what: "one management key makes keys, 16 at a time",
    shown: [refusedBy("public", "rate")],
    async burst({ addresses, managementKey }) {
      const headers = { ...json, authorization: `Bearer ${managementKey}` };
      await Promise.all(
        many(16, (at) =>
          ask({
            to: addresses.http,
            from: from(at, 23),
            method: "POST",
            path: "/v1/keys",
            headers,
            body: '{"name":"a"}',
          }),
        ),
      );
    },
  },
  {
    name: "own-reads",
    what: "one free key reads its statement, seals, usage and what a thousand requests cost, 32 at a time",
    shown: [refusedBy("public", "rate")],
    async burst({ addresses, freeKey }) {
      const headers = { ...json, authorization: `Bearer ${freeKey}` };
      const read = (path: string, at: number) => ask({ to: addresses.http, from: from(at, 24), path, headers });
      const costs = JSON.stringify({ requestIds: many(1000, (at) => `request-${at}`) });
      await Promise.all(
        many(8, (at) => [
          read("/v1/statement?from=2026-01-01", at),
          read("/v1/seals", at),
          read("/v1/usage", at),
          ask({ to: addresses.http, from: from(at, 24), method: "POST", path: "/v1/costs", headers, body: costs }),
        ]).flat(),
      );
    },
  },
  {
    name: "metrics",
    what: "GET /metrics of the admin port, 32 at a time",
    shown: [refusedBy("admin", "uncounted")],
    async burst({ addresses }) {
      await Promise.all(many(32, () => ask({ to: addresses.admin, from: from(0, 26), path: "/metrics" })));
    },
  },
];
