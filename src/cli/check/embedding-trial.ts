import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { detailOf } from "../../../lib/errors/detail.ts";
import { systemRandom } from "../../../lib/ids/random.ts";
import type { Engine, EngineEmbeddings } from "../../engines/interface.ts";
import { type Remark, type Subject, servedName, wrong } from "../../engines/shared/inspection/inspection.ts";

/** Words beyond the context, each of at least one token. */
const excess = 64;

/** The part of the context that a long input fills: engines add tokens of their own. */
const almost = 0.9;

/** Words of which a tokenizer shows how many tokens one has, and how many it has where there is none to ask. */
const sample = 64;
const tokensAWord = 2;

const tooLong: readonly (Reason | undefined)[] = [
  Reason.INPUT_TOO_LONG,
  Reason.CONTEXT_LENGTH_EXCEEDED,
  Reason.INVALID_ARGUMENT,
];

/** Embeds a short input, a long one and one that is too long. Nothing for a model that generates. */
export async function tryEmbedding(engine: Engine, subject: Subject, signal: AbortSignal): Promise<Remark[]> {
  const { kind, dimensions, context_length: length } = subject.model;
  if (kind !== "embedding") {
    return [];
  }
  const served = servedName(subject);
  const embed = (words: number) =>
    engine.embed({ runId: `check-${systemRandom.uuid()}`, model: served, inputs: [textOf(words)] }, signal);
  const found = (await embed(1)).vectors[0]?.length;
  if (found !== dimensions) {
    return [wrong(`answers vectors of ${found} dimensions, not ${dimensions}: set dimensions: of the model`)];
  }
  const prompt = { case: "text", value: textOf(sample) } as const;
  const counted = await engine.countTokens({ model: served, prompt, recipe: subject.model.thinking }, signal);
  const long = Math.floor((length * almost) / ((counted ?? sample * tokensAWord) / sample));
  if ((await refusalOf(embed(Math.max(1, long)))) !== undefined) {
    return [wrong(`refuses an input that is shorter than context_length ${length}: raise its limits`)];
  }
  const words = length + excess;
  const cut = await embed(words).catch((error): Pick<EngineEmbeddings, "inputTokens"> => {
    if (tooLong.includes(detailOf(error)?.reason)) {
      return { inputTokens: words };
    }
    throw error;
  });
  if (cut.inputTokens >= words) {
    return [];
  }
  return [wrong(`cuts long inputs and says nothing: it read ${cut.inputTokens} tokens of ${words} words`)];
}

const textOf = (words: number): string => new Array<string>(words).fill("word").join(" ");

/** Why an input is refused as too long. Undefined: it is not. */
async function refusalOf(embedding: Promise<EngineEmbeddings>): Promise<Reason | undefined> {
  try {
    await embedding;
    return undefined;
  } catch (error) {
    const reason = detailOf(error)?.reason;
    if (tooLong.includes(reason)) {
      return reason;
    }
    throw error;
  }
}
