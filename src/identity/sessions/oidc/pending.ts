import type { Seal } from "#lib/ids/sealed.ts";
import type { Checks } from "./provider.ts";

/** The checks of a sign-in, and the id of the provider that it was begun with. */
export interface Pending extends Checks {
  readonly provider: string;
}

/** How long a sign-in with the provider may take, in milliseconds. */
const pendingMs = 600_000;

/** Seals the checks that a browser brings back, so that every core can read them and nobody else can make them. */
export function sealPending(seal: Seal, checks: Pending, now: number): string {
  return Buffer.from(seal.close(JSON.stringify({ ...checks, until: now + pendingMs }))).toString("base64url");
}

/** Undefined: no core of this service sealed it, or it is too old. */
export function openPending(seal: Seal, pending: string, now: number): Pending | undefined {
  try {
    const { until, ...checks } = JSON.parse(seal.open(Buffer.from(pending, "base64url").toString()));
    return typeof until === "number" && until > now && typeof checks.verifier === "string" ? checks : undefined;
  } catch {
    return undefined;
  }
}
