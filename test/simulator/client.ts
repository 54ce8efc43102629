import { request } from "node:http";
import type { Simulator } from "../../simulator/server.ts";

type Target = Pick<Simulator, "url">;

/** Posts JSON to a simulator. */
export function post(sim: Target, path: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  const json = { "content-type": "application/json", ...headers };
  return fetch(sim.url + path, { method: "POST", headers: json, body: JSON.stringify(body) });
}

/** Asks for JSON and gives the status with it. */
export async function get(sim: Target, path: string): Promise<Answer> {
  const response = await fetch(sim.url + path);
  return { status: response.status, body: await response.json() };
}

/** A user's question as a chat request. */
export function ask(content: string, more: object = {}): object {
  return { messages: [{ role: "user", content }], ...more };
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into as they come
export type Answer = any;

/** Posts JSON and gives status and JSON. */
export async function call(sim: Target, path: string, body: object, headers = {}): Promise<Answer> {
  const response = await post(sim, path, body, headers);
  return { status: response.status, body: await response.json() };
}

/** The data of a stream's events; the last one, `[DONE]`, as that text. */
export function eventsIn(text: string): Answer[] {
  return text
    .split("\n\n")
    .filter((event) => event.startsWith("data: "))
    .map((event) => event.slice(6))
    .map((data) => (data === "[DONE]" ? data : JSON.parse(data)));
}

/** Posts a request with `stream: true` and gives the data of its events. */
export async function stream(sim: Target, path: string, body: object, headers = {}): Promise<Answer[]> {
  const response = await post(sim, path, { ...body, stream: true }, headers);
  return eventsIn(await response.text());
}

/** What a stream's deltas say in one field, joined. */
export function joined(chunks: readonly Answer[], field: string): string {
  return chunks.map((chunk) => chunk.choices?.[0]?.delta?.[field] ?? "").join("");
}

/** The tool calls that a stream's deltas put together: names and arguments. */
export function joinedCalls(chunks: readonly Answer[]): { name: string; arguments: string }[] {
  const calls: { name: string; arguments: string }[] = [];
  for (const chunk of chunks) {
    for (const { index, function: part } of chunk.choices?.[0]?.delta?.tool_calls ?? []) {
      calls[index] ??= { name: "", arguments: "" };
      calls[index].name += part.name ?? "";
      calls[index].arguments += part.arguments ?? "";
    }
  }
  return calls;
}

/** A request over a socket of its own, and all that came back before it ended, however it did. */
export function raw(sim: Target, path: string, body: object): Promise<{ parts: Buffer[]; error?: string }> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    const sent = request(sim.url + path, { method: "POST", agent: false }, (response) => {
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () => resolve({ parts }));
      response.on("error", (error: NodeJS.ErrnoException) => resolve({ parts, error: error.code ?? error.message }));
    });
    sent.on("error", (error: NodeJS.ErrnoException) => resolve({ parts, error: error.code ?? error.message }));
    sent.end(JSON.stringify(body));
  });
}
