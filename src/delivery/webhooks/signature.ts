import { createHmac } from "node:crypto";
import type { Random } from "#lib/ids/random.ts";

const prefix = "whsec_";
const secretBytes = 32;

/** Makes a secret in the form of Standard Webhooks. */
export function newWebhookSecret(random: Random): string {
  return prefix + Buffer.from(random.bytes(secretBytes)).toString("base64");
}

/** The headers of a request signed by Standard Webhooks, with one signature for each secret. The time is in seconds. */
export function signedHeaders(
  id: string,
  seconds: number,
  body: string,
  secrets: readonly string[],
): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), "base64");
    return `v1,${createHmac("sha256", key).update(`${id}.${seconds}.${body}`).digest("base64")}`;
  });
  return { "webhook-id": id, "webhook-timestamp": String(seconds), "webhook-signature": signatures.join(" ") };
}
