import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import type { Statement } from "../protocol.ts";

/** The bytes before the 32 bytes of an Ed25519 key in PKCS #8. */
const prefix = Buffer.from("302e020100300506032b657004220420", "hex");

/** A region's key, always the same for the same bytes. */
export function privateKey(bytes: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([prefix, bytes]), format: "der", type: "pkcs8" });
}

const readText = ({ region, epoch, number, at, rows }: Omit<Statement, "signature">) =>
  Buffer.from(
    JSON.stringify([region, epoch, number, at, rows.map((row) => [row.lotId, row.granted, row.spent, row.returned])]),
  );

/** Signs a region's statement about its slices. */
export function signStatement(statement: Omit<Statement, "signature">, key: KeyObject): Statement {
  return { ...statement, signature: sign(null, readText(statement), key) };
}

/** Whether the region signed exactly this. */
export function isSigned(statement: Statement, key: KeyObject): boolean {
  return verify(null, readText(statement), createPublicKey(key), statement.signature);
}
