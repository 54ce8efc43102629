import type { IncomingMessage } from "node:http";
import { readMediaType } from "#lib/text/media-type.ts";

/** More bytes than any credential needs. */
const maxBody = 4096;

/** The credential of a sign-in. Undefined: the body has none. */
export async function readCredential(request: IncomingMessage): Promise<string | undefined> {
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
  return parseCredential(Buffer.concat(chunks).toString());
}

function parseCredential(text: string): string | undefined {
  try {
    const { operatorToken, apiKey, ...others } = JSON.parse(text) as Record<string, unknown>;
    const given = [operatorToken, apiKey].filter((one) => one !== undefined);
    const [credential] = given;
    const isOne = given.length === 1 && Object.keys(others).length === 0 && typeof credential === "string";
    return isOne ? credential.trim() : undefined;
  } catch {
    return undefined;
  }
}
