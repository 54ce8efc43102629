import type { Metadata } from "@grpc/grpc-js";
import { CallHeaders } from "../wire/call-headers.ts";
import { type HeadersInit, listSendable, toMetadata } from "../wire/metadata.ts";

interface Header {
  readonly name: string;
  readonly value: string;
}

/** Headers as they are carried. */
export function toCarried(headers: HeadersInit): Header[] {
  return listSendable(headers).map(([name, value]) => ({ name, value }));
}

/** Carried headers. Throws a TypeError when they cannot be headers. */
export function fromCarried(headers: readonly Header[]): CallHeaders {
  return new CallHeaders(headers.map(({ name, value }) => [name, value] as const));
}

/** Carried headers as grpc-js has them. Throws when they cannot be headers. */
export function carriedMetadata(headers: readonly Header[]): Metadata {
  return toMetadata(fromCarried(headers));
}

/** What headers count for in their bound, as in HTTP/2. */
export function carriedLength(headers: readonly Header[]): number {
  return headers.reduce((length, { name, value }) => length + name.length + value.length + 32, 0);
}
