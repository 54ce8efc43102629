import * as z from "zod";
import { isLoopback, parseAddress } from "#lib/net/address.ts";
import { address, network } from "./values.ts";

const file = z.string().min(1);
const tls = z
  .strictObject({
    cert: file.describe("The certificate and the intermediate certificates, in PEM."),
    key: file.describe("Its private key, in PEM."),
    client_ca: file
      .optional()
      .describe("The authority whose certificates clients of grpc and connect must show. Default: clients need none."),
  })
  .describe("For all addresses; files that are renewed are read again within a minute.");

/** Addresses to listen on, and which peers are trusted there. */
export const listen = z
  .strictObject({
    http: address.default("127.0.0.1:8080").describe("Both public surfaces."),
    grpc: address.default("127.0.0.1:50051").describe("The core's services over gRPC."),
    connect: address
      .default("127.0.0.1:50052")
      .describe("The same services over the Connect protocol, for curl and browsers."),
    webhooks: address
      .default("127.0.0.1:50053")
      .describe("Events of payment providers; opened only when a provider's secret is set."),
    admin: address.default("127.0.0.1:9464").describe("/metrics, /livez and /readyz."),
    console: address
      .optional()
      .describe(
        "The console, for browsers. Default: in serve 127.0.0.1:8081, unless that is taken or --no-console is given; else none.",
      ),
    reuse_port: z
      .boolean()
      .default(false)
      .describe(
        "Whether several processes of one user may listen on http, which share its connections (SO_REUSEPORT). Each has its own other addresses (serve --port). serve then needs PostgreSQL, and Valkey or Redis.",
      ),
    tls: tls.optional(),
    insecure: z.boolean().default(false).describe("Allow addresses other than loopback without TLS."),
    trusted_proxies: z
      .array(network)
      .default([])
      .describe(
        "Networks of load balancers in front of http: their X-Forwarded-For tells where a client is, X-Forwarded-Proto that they end TLS.",
      ),
    trusted_facades: z
      .array(network)
      .default([])
      .describe(
        "Facades on other machines, as networks, that are believed where a client is. Not needed with client_ca.",
      ),
  })
  .superRefine(({ insecure, tls, reuse_port, trusted_proxies, trusted_facades, ...listeners }, context) => {
    const seen = new Map<string, string>();
    for (const [name, text] of Object.entries(listeners)) {
      const refuse = (message: string) => context.addIssue({ code: "custom", path: [name], message });
      const parsed = text === undefined ? undefined : parseAddress(text);
      if (text === undefined || !parsed) {
        continue;
      }
      if (!insecure && !tls && !isLoopback(parsed.host)) {
        refuse(
          `${text} can be reached from other machines: set listen.tls, or listen.insecure: true to allow that without TLS`,
        );
      }
      const taken = seen.get(text);
      if (taken !== undefined && parsed.port !== 0) {
        refuse(`is the same address as listen.${taken}`);
      }
      seen.set(text, name);
    }
  });
