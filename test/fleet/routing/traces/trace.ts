import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PromptTree } from "./prompt-tree.ts";

/** One request of a trace. */
export interface TracedRequest {
  /** The full blocks of its prompt, as places in the tree of all prompts: equal places are equal beginnings. */
  readonly blocks: Int32Array;
  readonly promptTokens: number;
  readonly outputTokens: number;
}

/** Requests that follow each other: each comes when the one before is answered and its time of thinking is over. */
export interface TracedSession {
  /** When its first request comes, in milliseconds. Undefined: when a place among those that run is free. */
  readonly at?: number;
  readonly steps: readonly { readonly thinkMs: number; readonly request: TracedRequest }[];
}

/** What was recorded, or made up in its likeness. */
export interface Trace {
  readonly sessions: readonly TracedSession[];
  readonly tree: PromptTree;
}

/** No request is longer, as no context is. */
const mostTokens = 131_072;

/**
 * Mooncake's conversations (FAST '25), of which each line has a time, lengths, and ids of blocks of 512 tokens. Times are
 * rounded to three seconds there; here requests of one time are spread over it. `speed` makes them come faster.
 */
export function readConversations(file: string, speed: number): Trace {
  const lines = readFileSync(file, "utf8").trim().split("\n");
  const requests = lines.map((line) => JSON.parse(line) as MooncakeLine);
  const tree = new PromptTree(512);
  const roundedMs = 3000;
  const sessions = requests.map(({ timestamp, input_length, output_length, hash_ids }, at): TracedSession => {
    const first = requests.findIndex((other) => other.timestamp === timestamp);
    const together = requests.slice(first, first + 400).filter((other) => other.timestamp === timestamp).length;
    const request = {
      blocks: tree.insert(hash_ids.slice(0, Math.floor(input_length / 512))),
      promptTokens: input_length,
      outputTokens: Math.max(1, output_length),
    };
    return {
      at: (timestamp + (roundedMs * (at - first)) / together) / speed,
      steps: [{ thinkMs: 0, request }],
    };
  });
  return { sessions, tree };
}

interface MooncakeLine {
  readonly timestamp: number;
  readonly input_length: number;
  readonly output_length: number;
  readonly hash_ids: readonly number[];
}

/** Blocks of 64 tokens are taken together to blocks of 256. */
const joined = 4;

/** The part of the longest instructions and tools that all sessions begin with, as kv-cache-tester has it. */
const sharedPart = 0.5;

/**
 * Sessions of coding agents (kv-cache-tester), a file each, of the first so many files, with ids of blocks of 64 tokens, which
 * are the session's own. They have the beginning of instructions and tools in common, as one account's sessions do; apart:
 * nothing, as sessions of many accounts.
 */
export function readAgents(directory: string, mostFiles: number, apart = false): Trace {
  const tree = new PromptTree(64 * joined);
  const files = readdirSync(directory).sort().slice(0, mostFiles);
  const read = files.map((file) => JSON.parse(readFileSync(join(directory, file), "utf8")) as AgentSession);
  const longest = Math.max(...read.map(({ tool_tokens, system_tokens }) => tool_tokens + system_tokens));
  const sessions = read.flatMap(({ tool_tokens, system_tokens, requests }, number): TracedSession[] => {
    const sharedTokens = apart ? 0 : Math.min(longest * sharedPart, tool_tokens + system_tokens);
    let first: readonly number[] | undefined;
    const steps: TracedSession["steps"][number][] = [];
    for (const { in: promptTokens, out, hash_ids, think_time } of requests) {
      if (hash_ids === undefined || promptTokens === undefined || promptTokens > mostTokens) {
        continue;
      }
      const ids = Array.from(
        { length: Math.floor(hash_ids.length / joined) },
        (_, at) => hash_ids[at * joined + joined - 1] as number,
      );
      first ??= ids;
      const shared = Math.floor(sharedTokens / tree.blockTokens);
      const isOfMain = ids.slice(0, shared).every((id, at) => id === first?.[at]); // an agent below it has instructions of its own
      const request = {
        blocks: tree.insert(ids, number + 1, isOfMain ? Math.min(shared, ids.length) : 0),
        promptTokens: Math.max(promptTokens, ids.length * tree.blockTokens),
        outputTokens: Math.max(1, out ?? 1),
      };
      steps.push({ thinkMs: 1000 * (think_time ?? 0), request });
    }
    return steps.length > 0 ? [{ steps }] : [];
  });
  return { sessions, tree };
}

interface AgentSession {
  readonly tool_tokens: number;
  readonly system_tokens: number;
  readonly requests: readonly AgentRequest[];
}

interface AgentRequest {
  readonly in?: number;
  readonly out?: number;
  readonly hash_ids?: readonly number[];
  readonly think_time?: number;
}
