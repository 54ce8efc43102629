import { createServer } from "node:net";
import { parseAddress } from "#lib/net/address.ts";
import { claimPort } from "#lib/net/port-claim.ts";
import { consoleAddress } from "#src/config/ports/move-ports.ts";
import type { Config } from "#src/config/schema.ts";
import type { Secrets } from "#src/config/secrets/secrets.ts";
import { type Finding, toReason } from "../finding.ts";

const names = ["http", "console", "grpc", "connect", "admin"] as const;

/** Checks that the addresses to listen on are free: that of the payment provider's events where they are believed. */
export async function checkListen({ listen, payments }: Config, secrets: Secrets): Promise<Finding[]> {
  const addresses = { ...listen, console: consoleAddress(listen) };
  const isTold = payments.stripe !== undefined && secrets.stripeWebhookSecret !== undefined;
  const used = [...names, ...(isTold ? (["webhooks"] as const) : [])];
  return Promise.all(used.map((name) => checkAddress(name, addresses[name], name === "http" && listen.reuse_port)));
}

async function checkAddress(name: string, text: string, reusePort: boolean): Promise<Finding> {
  const part = `listen.${name}`;
  try {
    await bind(text, reusePort);
    return { part, status: "ok", message: `${text} is free` };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") {
      return { part, status: "wrong", message: `${text}: ${toReason(error)}: name an address of this machine` };
    }
    return { part, status: "warning", message: `${text} is taken, by a running tollgate or another process` };
  }
}

async function bind(text: string, reusePort: boolean): Promise<void> {
  const { host = "", port = 0 } = parseAddress(text) ?? {};
  if (reusePort) {
    (await claimPort(text))(); // rejects where one process has the port alone
  }
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen({ port, host, reusePort }, () => server.close(() => resolve()));
  });
}
