import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { readAgents, type Trace, type TracedRequest } from "./trace.ts";

// 1,024 tokens of instructions and tools, of which 512 are shared: two blocks of 256 tokens, eight of the recorded ones.
const [shared, recorded] = [2, 64];

const session = (requests: readonly (readonly number[])[]) => ({
  ...{ tool_tokens: 1000, system_tokens: 24 },
  requests: requests.map((hash_ids) => ({ in: hash_ids.length * recorded + 10, out: 5, hash_ids, think_time: 1 })),
});
const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, at) => first + at);

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "tollgate-traces-"));
  const one = session([upTo(16), upTo(24), upTo(130, 101)]); // the last is of an agent below it
  writeFileSync(join(directory, "one.json"), JSON.stringify(one));
  writeFileSync(join(directory, "two.json"), JSON.stringify(session([upTo(20)])));
});
afterAll(() => rmSync(directory, { recursive: true }));

/** The requests of a session; the tests ask for no more than it has. */
type Prompts = readonly [TracedRequest, TracedRequest, TracedRequest];
const promptsOf = (trace: Trace) => trace.sessions.map(({ steps }) => steps.map(({ request }) => request)) as unknown;
const inCommon = (one: Int32Array, other: Int32Array) => one.findIndex((block, at) => block !== other[at]);

test("sessions of agents have the beginning of their instructions in common, and nothing else", () => {
  const [[first, second, below], [other]] = promptsOf(readAgents(directory, 9)) as [Prompts, Prompts];
  expect([first, second, below, other].map(({ blocks }) => blocks.length)).toEqual([4, 6, 7, 5]);
  expect(inCommon(second.blocks, first.blocks)).toBe(4);
  expect(inCommon(other.blocks, first.blocks)).toBe(shared);
  expect(inCommon(below.blocks, first.blocks)).toBe(0);
  expect([first.promptTokens, first.outputTokens]).toEqual([1034, 5]);
});

test("apart, they have nothing in common", () => {
  const [[first, second], [other]] = promptsOf(readAgents(directory, 9, true)) as [Prompts, Prompts];
  expect(inCommon(second.blocks, first.blocks)).toBe(4);
  expect(inCommon(other.blocks, first.blocks)).toBe(0);
});
