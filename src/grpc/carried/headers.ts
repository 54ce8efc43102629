import type { Metadata } from "@grpc/grpc-js";
import { CallHeaders } from "../wire/call-headers.ts";
import { type HeadersInit, listSendable, toMetadata } from "../wire/metadata.ts";

interface Header {
  readonly name: string;
  readonly value: string;
}

/** Headers in the carried form. */
export function toCarried(headers: HeadersInit): Header[] {
  return listSendable(headers).map(([name, value]) => ({ name, value }));
}

/** Headers from the carried form. Throws a TypeError when they are invalid. */
export function fromCarried(headers: readonly Header[]): CallHeaders {
  return new CallHeaders(headers.map(({ name, value }) => [name, value] as const));
}

/** Carried headers as grpc-js metadata. Throws when they are invalid. */
export function carriedMetadata(headers: readonly Header[]): Metadata {
  return toMetadata(fromCarried(headers));
}

/** The length of headers as HTTP/2 counts it for a bound. */
export function carriedLength(headers: readonly Header[]): number {
  return headers.reduce((length, { name, value }) => length + name.length + value.length + 32, 0);
}
