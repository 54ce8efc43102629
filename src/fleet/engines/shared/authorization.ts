import { readFileSync } from "node:fs";
import type { ServerConfig } from "#src/config/schema.ts";

/**
 * The authorization header for a server that demands an API key. Undefined: the server demands none. Throws an error
 * with a text for people.
 */
export function readAuthorization(server: Pick<ServerConfig, "url" | "api_key_file">): string | undefined {
  const { url, api_key_file: file } = server;
  if (file === undefined) {
    return undefined;
  }
  const key = read(file, url).trim();
  if (key === "") {
    throw new Error(`the API key of ${url}: ${file} is empty`);
  }
  return `Bearer ${key}`;
}

function read(file: string, url: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Error(`the API key of ${url}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}
