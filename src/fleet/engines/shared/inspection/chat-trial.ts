import { create } from "@bufbuild/protobuf";
import { ConversationSchema, Role } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { SamplingSchema } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { systemRandom } from "#lib/ids/random.ts";
import type { EngineRequest } from "../../interface.ts";
import { checkChunk } from "../chat-completions/check-chunk.ts";
import type { Chunk } from "../chat-completions/chunk.ts";
import type { Dialect, Fields } from "../chat-completions/dialect.ts";
import { readError } from "../chat-completions/errors.ts";
import { generationRequest } from "../chat-completions/request.ts";
import { readUsage } from "../chat-completions/usage.ts";
import { engineFailed } from "../faults.ts";
import { SseParser } from "../http/sse-parser.ts";
import { type Subject, servedName } from "./inspection.ts";
import { objectIn, type Probe } from "./probe.ts";
import { plainText } from "./told.ts";

/** What a short chat shows about a server. */
export interface ChatTrial {
  /** Why the server refused, in its words; the prompt is ours. Undefined: it answered. */
  readonly refusal?: string;
  /** Whether tokens were counted before the end. */
  readonly countsAsItGoes: boolean;
  /** Prompt tokens that the server says came from its cache. */
  readonly cachedTokens: number;
  /** Thinking that came in a separate field. */
  readonly thoughts: string;
  readonly text: string;
}

/** Long enough for several blocks of a prefix cache, which usually have 16 tokens. */
const question = `How often is it said? ${"word ".repeat(80)}`;

/** The request of a short chat. `more` adds to the usual fields. */
export function trialRequest(subject: Subject, more: Partial<EngineRequest> & { readonly tool?: boolean }) {
  const { tool = false, ...fields } = more;
  const tools = tool ? [{ name: "report", parametersJson: '{"type":"object","properties":{}}' }] : [];
  const value = create(ConversationSchema, { messages: [{ role: Role.USER, text: question }], tools });
  return {
    runId: `check-${systemRandom.uuid()}`,
    model: servedName(subject),
    prompt: { case: "conversation", value },
    maxOutputTokens: 4,
    sampling: create(SamplingSchema, { temperature: 0 }),
    stopSequences: [],
    recipe: subject.model.thinking,
    ...fields,
  } as const satisfies EngineRequest;
}

/** Sends a short chat in a dialect. Throws ENGINE_FAILED without an answer, or for one that cannot be read. */
export async function tryChat(probe: Probe, dialect: Dialect, request: EngineRequest): Promise<ChatTrial> {
  const { status, text } = await probe.send(generationRequest(request, dialect, false));
  const nothing = { countsAsItGoes: false, cachedTokens: 0, thoughts: "", text: "" };
  if (status === 200) {
    return read(text, dialect, nothing);
  }
  return { ...nothing, refusal: plainText(readError(objectIn(text)).message) || `status ${status}` };
}

function read(stream: string, dialect: Dialect, nothing: ChatTrial): ChatTrial {
  let trial = nothing;
  const sse = new SseParser((data) => {
    trial = withChunk(trial, readChunk(data, dialect), dialect);
  });
  sse.push(Buffer.from(stream));
  sse.end();
  return trial;
}

/** A chunk. Empty for a marker that is not a chunk. */
function readChunk(data: string, { engine }: Dialect): Chunk {
  try {
    return checkChunk(objectIn(data) ?? {});
  } catch (error) {
    const what = error instanceof TypeError ? error.message : "parts cannot be read";
    throw engineFailed(`${engine} sent a chunk whose ${what}`, false, error);
  }
}

function withChunk(trial: ChatTrial, chunk: Chunk, dialect: Dialect): ChatTrial {
  const wire = chunk.usage ?? dialect.readUsage?.(chunk as Fields);
  const usage = wire ? readUsage(wire, undefined) : undefined;
  const choice = chunk.choices?.[0];
  const delta = choice?.delta;
  const running = usage !== undefined && choice !== undefined && !choice.finish_reason;
  return {
    ...trial,
    countsAsItGoes: trial.countsAsItGoes || running,
    cachedTokens: Math.max(trial.cachedTokens, usage?.cachedInputTokens ?? 0),
    thoughts: trial.thoughts + (delta?.reasoning ?? delta?.reasoning_content ?? ""),
    text: trial.text + (delta?.content ?? ""),
  };
}
