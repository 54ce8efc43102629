import { session } from "../../app/session.ts";

/** A request as a command for a terminal, with the key in it. */
export function toCurl(apiKey: string, model: string, content: string): string {
  const publicUrl = session.value?.publicUrl ?? location.origin;
  const body = JSON.stringify({ model, messages: [{ role: "user", content }] }).replaceAll("'", "'\\''");
  return `curl ${publicUrl}/v1/chat/completions -H "authorization: Bearer ${apiKey}" -H "content-type: application/json" -d '${body}'`;
}
