import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { systemRandom } from "#lib/ids/random.ts";
import { cutsInputs } from "#lib/text/cut-inputs.ts";
import { type Engine, type EngineEmbeddings, UnrefusedInput } from "#src/fleet/engines/interface.ts";
import {
  type Remark,
  type Subject,
  servedName,
  toRemarks,
  warning,
  wrong,
} from "#src/fleet/engines/shared/inspection/inspection.ts";

/** The number of words beyond the context. Each has at least one token. */
const excess = 64;

/** The part of the context that a long input fills: engines add tokens of their own. */
const almost = 0.9;

/** The part of that which fits also where some of the words have twice as many tokens. */
const certain = 0.75;

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
  const embedText = (text: string) =>
    engine.embed({ runId: `check-${systemRandom.uuid()}`, model: served, inputs: [text] }, signal);
  const embed = (words: number) => embedText(toText(words));
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
  if (long > sample && (await attempt(embed(long))).refused) {
    return [wrong(`refuses an input that is shorter than context_length ${length}: raise its limits`)];
  }
  const words = length + excess;
  const { tokens = words, mayCut } = await attempt(embed(words));
  if (tokens < words) {
    return [wrong(`cuts long inputs and says nothing: it read ${tokens} tokens of ${words} words`)];
  }
  return toRemarks(
    [
      await cutsInputs(embedText, Math.floor(long * certain)).catch(() => false),
      wrong(`cuts inputs that context_length ${length} allows, and says nothing: lower it to what the model takes`),
    ],
    [
      mayCut,
      warning(
        `takes inputs longer than context_length ${length}, perhaps cut, and counts none before: Tollgate embeds each input that may be so long alone, and refuses it by its count`,
      ),
    ],
  );
}

const toText = (words: number): string => new Array<string>(words).fill(word).join(" ");

/** What came of an input: the tokens that were read, or a refusal as too long, by the server or by its count. */
interface Attempt {
  readonly tokens?: number;
  readonly refused: boolean;
  readonly mayCut: boolean;
}

async function attempt(embedding: Promise<EngineEmbeddings>): Promise<Attempt> {
  try {
    return { tokens: (await embedding).inputTokens, refused: false, mayCut: false };
  } catch (error) {
    if (!tooLong.includes(readDetail(error)?.reason)) {
      throw error;
    }
    return { refused: true, mayCut: error instanceof Error && error.cause instanceof UnrefusedInput };
  }
}
