import type { IncomingMessage } from "node:http";
import { readMediaType } from "#lib/text/media-type.ts";

/** More bytes than any credential needs. */
const maxBody = 4096;

/** More bytes than any passkey's answer needs. */
const maxFields = 32_768;

/** The credential of a sign-in. Undefined: the body has none. */
export async function readCredential(request: IncomingMessage): Promise<string | undefined> {
  return parseOne(await readBody(request), ["operatorToken", "apiKey"]);
}

/** The one text of a body. Undefined: the body has none. */
export async function readText(request: IncomingMessage, name: string): Promise<string | undefined> {
  return parseOne(await readBody(request), [name]);
}

/** The texts of a body by their names; others are left out. Undefined: the body is no JSON object. */
export async function readFields(
  request: IncomingMessage,
  names: readonly string[],
): Promise<Readonly<Record<string, string>> | undefined> {
  try {
    const entries = Object.entries(JSON.parse((await readBody(request, maxFields)) ?? "") as object);
    return Object.fromEntries(entries.filter(([name, value]) => names.includes(name) && typeof value === "string"));
  } catch {
    return undefined;
  }
}

async function readBody(request: IncomingMessage, most = maxBody): Promise<string | undefined> {
  if (readMediaType(request.headers["content-type"] ?? "") !== "application/json") {
    return undefined;
  }
  const chunks: Buffer[] = [];
  let size = 0;
  // The connection stays when the body is too large: its sender has an answer coming.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > most) {
      return undefined;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** The text of a body that has exactly one property, of one of these names. */
function parseOne(body: string | undefined, names: readonly string[]): string | undefined {
  try {
    const [[name, value] = ["", undefined], ...others] = Object.entries(JSON.parse(body ?? "") as object);
    return others.length === 0 && names.includes(name) && typeof value === "string" ? value.trim() : undefined;
  } catch {
    return undefined;
  }
}
