import type { IncomingMessage } from "node:http";
import { readMediaType } from "#lib/text/media-type.ts";

/** More bytes than any credential needs. */
const maxBody = 4096;

/** The credential of a sign-in. Undefined: the body has none. */
export async function readCredential(request: IncomingMessage): Promise<string | undefined> {
  return parseOne(await readBody(request), ["operatorToken", "apiKey"]);
}

/** The one text of a body. Undefined: the body has none. */
export async function readText(request: IncomingMessage, name: string): Promise<string | undefined> {
  return parseOne(await readBody(request), [name]);
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  if (readMediaType(request.headers["content-type"] ?? "") !== "application/json") {
    return undefined;
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBody) {
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
