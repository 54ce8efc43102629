import { useState } from "preact/hooks";

/** The id of what a form creates, so that sending the form twice creates one thing. */
export function useRequestId(): string {
  return useState(makeRequestId)[0];
}

/** crypto.randomUUID exists only in secure contexts, and a console on plain HTTP is not one. */
function makeRequestId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
