import { malformed, type ResponseHeaders } from "./interface.ts";

/** How the end of a body is found. */
export type Framing = { readonly kind: "length"; readonly bytes: number } | { readonly kind: "chunked" | "close" };

/** The status line and headers of an answer. */
export interface Head {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly framing: Framing;
  /** Whether the server keeps the connection open afterwards. */
  readonly keepsAlive: boolean;
  /** Seconds that the server promises to keep an idle connection. Undefined: no promise. */
  readonly idleSeconds: number | undefined;
  /** Further calls for which the server promises to keep the connection. Undefined: no promise. */
  readonly callsLeft: number | undefined;
}

const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const token = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the characters that a value may not hold
const forbiddenInValue = /[\0-\x08\x0a-\x1f\x7f]/;
const noBody: Framing = { kind: "length", bytes: 0 };

/**
 * Parses the text before a body, without the blank line. Throws a fault on everything that two readers could understand
 * differently. Source: RFC 9112, sections 4 to 6.
 */
export function parseHead(text: string): Head {
  const lines = text.split("\r\n");
  const [, minor, code] = statusLine.exec(lines[0] ?? "") ?? [];
  if (code === undefined) {
    throw malformed("its first line is no status");
  }
  const headers = parseHeaders(lines);
  const status = Number(code);
  return {
    status,
    headers,
    framing: status < 200 || status === 204 || status === 304 ? noBody : toFraming(headers),
    keepsAlive: keepsAlive(headers, minor === "1"),
    idleSeconds: promised(headers["keep-alive"], /\btimeout\s*=\s*"?(\d{1,6})\b/i),
    callsLeft: promised(headers["keep-alive"], /\bmax\s*=\s*"?(\d{1,6})\b/i),
  };
}

/**
 * Reads the heads of one connection. A server's heads differ by their date only, so that the last one is often equal to
 * the next one.
 */
export class HeadReader {
  #text: string | undefined;
  #head: Head | undefined;

  /** Like parseHead. */
  read(text: string): Head {
    if (this.#head === undefined || text !== this.#text) {
      this.#head = parseHead(text);
      this.#text = text;
    }
    return this.#head;
  }
}

function parseHeaders(lines: readonly string[]): ResponseHeaders {
  const headers: Record<string, string | string[] | undefined> = Object.create(null);
  for (let index = 1; index < lines.length; index++) {
    const line = lines[index] ?? "";
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (colon === -1 || !token.test(name) || forbiddenInValue.test(value)) {
      throw malformed("a header line cannot be read");
    }
    const before = headers[name];
    headers[name] = before === undefined ? value : [before, value].flat();
  }
  return headers;
}

function toFraming(headers: ResponseHeaders): Framing {
  const length = headers["content-length"];
  const encoding = headers["transfer-encoding"];
  if (encoding !== undefined) {
    if (length !== undefined || typeof encoding !== "string" || encoding.toLowerCase() !== "chunked") {
      throw malformed("the end of its body is ambiguous");
    }
    return { kind: "chunked" };
  }
  if (length === undefined) {
    return { kind: "close" };
  }
  if (typeof length !== "string" || !/^\d{1,15}$/.test(length)) {
    throw malformed("the length of its body cannot be read");
  }
  return { kind: "length", bytes: Number(length) };
}

function keepsAlive({ connection }: ResponseHeaders, isHttp11: boolean): boolean {
  const words = connection === undefined ? "" : [connection].flat().join(",").toLowerCase();
  return isHttp11 ? !/\bclose\b/.test(words) : /\bkeep-alive\b/.test(words);
}

/** A figure of the `Keep-Alive` header, such as `timeout=5, max=100`. */
function promised(value: string | string[] | undefined, figure: RegExp): number | undefined {
  const [, digits] = value === undefined ? [] : (figure.exec([value].flat().join(",")) ?? []);
  return digits === undefined ? undefined : Number(digits);
}
