import type { Simulator } from "../../src/simulator/server.ts";

/** Posts JSON to a simulator. */
export function post(
  sim: Pick<Simulator, "url">,
  path: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(sim.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

/** A user's question as a chat request. */
export function ask(content: string, more: object = {}): object {
  return { messages: [{ role: "user", content }], ...more };
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into as they come
export type Answer = any;

/** The data of a stream's events; the last one, `[DONE]`, as that text. */
export async function events(response: Response): Promise<Answer[]> {
  const text = await response.text();
  return text
    .split("\n\n")
    .filter((event) => event.startsWith("data: "))
    .map((event) => event.slice(6))
    .map((data) => (data === "[DONE]" ? data : JSON.parse(data)));
}

/** What a stream's deltas say in one field, joined. */
export function joined(chunks: readonly Answer[], field: string): string {
  return chunks.map((chunk) => chunk.choices?.[0]?.delta?.[field] ?? "").join("");
}
