import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "../../../lib/errors/detail.ts";
import { systemRandom } from "../../../lib/ids/random.ts";
import type { Engine, EngineEmbeddings } from "../../engines/interface.ts";
import { type Remark, type Subject, servedName, wrong } from "../../engines/shared/inspection/inspection.ts";

/** The number of words beyond the context. Each has at least one token. */
const excess = 64;

/** The part of the context that a long input fills: engines add tokens of their own. */
const almost = 0.9;

/**
 * The number of words whose count shows how many tokens the engine gives one word: at least one, and at most one a
 * character.
 */
const toSampleSize = (length: number): number => Math.max(2, Math.min(64, Math.floor(length / 8)));
const word = "word";

const tooLong: readonly (Reason | undefined)[] = [
  Reason.INPUT_TOO_LONG,
  Reason.CONTEXT_LENGTH_EXCEEDED,
  Reason.INVALID_ARGUMENT,
];

/** Embeds a short input, a long one and one that is too long. Returns no remarks for a model that generates. */
export async function tryEmbedding(engine: Engine, subject: Subject, signal: AbortSignal): Promise<Remark[]> {
  const { kind, dimensions, context_length: length } = subject.model;
  if (kind !== "embedding") {
    return [];
  }
  const served = servedName(subject);
  const embed = (words: number) =>
    engine.embed({ runId: `check-${systemRandom.uuid()}`, model: served, inputs: [toText(words)] }, signal);
  const short = await embed(1);
  const found = short.vectors[0]?.length;
  if (found !== dimensions) {
    return [wrong(`answers vectors of ${found} dimensions, not ${dimensions}: set dimensions: of the model`)];
  }
  const sample = toSampleSize(length);
  const counted = (await embed(sample)).inputTokens;
  const tokensAWord = (counted - short.inputTokens) / (sample - 1);
  if (!(tokensAWord >= 1 && tokensAWord <= word.length + 1)) {
    return [
      wrong(`counts ${short.inputTokens} tokens in 1 word and ${counted} in ${sample}: its counts cannot be true`),
    ];
  }
  const long = Math.floor((length * almost) / tokensAWord);
  if (long > sample && (await toRefusal(embed(long))) !== undefined) {
    return [wrong(`refuses an input that is shorter than context_length ${length}: raise its limits`)];
  }
  const words = length + excess;
  const cut = await embed(words).catch((error): Pick<EngineEmbeddings, "inputTokens"> => {
    if (tooLong.includes(readDetail(error)?.reason)) {
      return { inputTokens: words };
    }
    throw error;
  });
  if (cut.inputTokens >= words) {
    return [];
  }
  return [wrong(`cuts long inputs and says nothing: it read ${cut.inputTokens} tokens of ${words} words`)];
}

const toText = (words: number): string => new Array<string>(words).fill(word).join(" ");

/** Why an input is refused as too long. Undefined: it is accepted. */
async function toRefusal(embedding: Promise<EngineEmbeddings>): Promise<Reason | undefined> {
  try {
    await embedding;
    return undefined;
  } catch (error) {
    const reason = readDetail(error)?.reason;
    if (tooLong.includes(reason)) {
      return reason;
    }
    throw error;
  }
}
