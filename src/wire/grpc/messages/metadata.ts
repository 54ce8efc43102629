import { Metadata } from "@grpc/grpc-js";
import { CallHeaders } from "./call-headers.ts";

// Connect keeps metadata in Headers, with binary values as base64; grpc-js keeps bytes.

const sendableName = /^[0-9a-z_.-]+$/;
const unsendable = /[^ -~]/g;

/** Anything from which `Headers` can be made. */
export type HeadersInit = ConstructorParameters<typeof Headers>[0];

/**
 * Headers as gRPC metadata. Headers that gRPC cannot carry must not fail the call: a character that is not printable
 * ASCII becomes a question mark, and a header with an invalid name is left out.
 */
export function toMetadata(headers: HeadersInit): Metadata {
  const metadata = new Metadata();
  for (const [given, value] of listEntries(headers)) {
    const name = given.toLowerCase();
    if (!sendableName.test(name)) {
      continue;
    }
    if (!name.endsWith("-bin")) {
      metadata.add(name, value.trim().replace(unsendable, "?"));
    } else {
      for (const part of value.split(",")) {
        metadata.add(name, Buffer.from(part, "base64"));
      }
    }
  }
  return metadata;
}

/**
 * Lists the entries. A plain object is read directly: creating Headers just to read them would cost more than the rest.
 */
function listEntries(headers: HeadersInit): Iterable<[name: string, value: string]> {
  if (headers !== undefined && !(Symbol.iterator in headers)) {
    return Object.entries(headers as Record<string, string>);
  }
  return headers instanceof Headers || headers instanceof CallHeaders ? headers : new Headers(headers);
}

/** gRPC metadata as headers, added to `headers`. */
export function toHeaders(metadata: Metadata, headers: Headers = new Headers()): Headers {
  for (const name of Object.keys(metadata.getMap())) {
    for (const value of metadata.get(name)) {
      headers.append(name, toText(value));
    }
  }
  return headers;
}

/** Whether there are no headers. */
export function isEmpty(headers: Headers): boolean {
  return headers.keys().next().done === true;
}

function toText(value: string | Buffer): string {
  return typeof value === "string" ? value : value.toString("base64").replace(/={1,2}$/, "");
}
