import { create } from "@bufbuild/protobuf";
import { ConversationSchema, Role } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { SamplingSchema } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { systemRandom } from "../../../../lib/ids/random.ts";
import type { EngineRequest } from "../../interface.ts";
import type { Dialect, Fields } from "../chat-completions/dialect.ts";
import { readError } from "../chat-completions/errors.ts";
import { generationRequest } from "../chat-completions/request.ts";
import { readUsage, type WireUsage } from "../chat-completions/usage.ts";
import { SseParser } from "../http/sse-parser.ts";
import { type Subject, servedName } from "./inspection.ts";
import { objectIn, type Probe, textIn } from "./probe.ts";

/** What a short chat shows of a server. */
export interface ChatTrial {
  /** Why it was refused, in the server's words; the prompt is ours. Undefined: it was answered. */
  readonly refusal?: string;
  /** Whether tokens were counted before the end. */
  readonly countsAsItGoes: boolean;
  /** Prompt tokens that are told to come from the cache. */
  readonly cachedTokens: number;
  /** Whether thinking came in a field of its own. */
  readonly reasoning: boolean;
  readonly text: string;
}

/** Several blocks of a prefix cache, whose usual size is 16 tokens. */
const question = `How often is it said? ${"word ".repeat(80)}`;

/** A short chat as a server is asked it, beyond the usual. */
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

/** Asks a server of a dialect. Throws ENGINE_FAILED without an answer. */
export async function tryChat(probe: Probe, dialect: Dialect, request: EngineRequest): Promise<ChatTrial> {
  const { status, text } = await probe.send(generationRequest(request, dialect, false));
  const nothing = { countsAsItGoes: false, cachedTokens: 0, reasoning: false, text: "" };
  if (status === 200) {
    return read(text, dialect, nothing);
  }
  return { ...nothing, refusal: readError(objectIn(text)).message.slice(0, 300) || `status ${status}` };
}

function read(stream: string, dialect: Dialect, nothing: ChatTrial): ChatTrial {
  let trial = nothing;
  const sse = new SseParser((data) => {
    trial = withChunk(trial, objectIn(data) ?? {}, dialect);
  });
  sse.push(Buffer.from(stream));
  sse.end();
  return trial;
}

function withChunk(trial: ChatTrial, chunk: Fields, dialect: Dialect): ChatTrial {
  const wire = (chunk.usage ?? dialect.readUsage?.(chunk)) as WireUsage | null | undefined;
  const usage = wire ? readUsage(wire, undefined) : undefined;
  const [choice] = (Array.isArray(chunk.choices) ? chunk.choices : []) as readonly Fields[];
  const delta = (choice?.delta ?? {}) as Fields;
  const running = usage !== undefined && choice !== undefined && !choice.finish_reason;
  return {
    ...trial,
    countsAsItGoes: trial.countsAsItGoes || running,
    cachedTokens: Math.max(trial.cachedTokens, usage?.cachedInputTokens ?? 0),
    reasoning: trial.reasoning || Boolean(delta.reasoning ?? delta.reasoning_content),
    text: trial.text + (textIn(delta.content) ?? ""),
  };
}
