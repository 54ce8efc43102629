import { useState } from "preact/hooks";

/** Names what a form makes, so that a form sent twice makes one thing. */
export function useRequestId(): string {
  return useState(makeRequestId)[0];
}

/** crypto.randomUUID is there in secure contexts alone, and a console on plain HTTP is none. */
function makeRequestId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
