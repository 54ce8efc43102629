import type { Dialect } from "../chat-completions/dialect.ts";
import { trialRequest, tryChat } from "./chat-trial.ts";
import { switched } from "./inspect-thinking.ts";
import { type Inspection, type Subject, toRemarks, warning, wrong } from "./inspection.ts";
import type { Probe } from "./probe.ts";

/** Output tokens of the answer from which a stop sequence is taken. */
const answerTokens = 24;

/** Characters of an answer that has room for a stop sequence and more. */
const shortest = 12;

/**
 * Learns whether a server ends an answer at a stop sequence: the same request again, with a piece of the first answer. A
 * server whose answer is too short, or another one the second time, shows nothing.
 */
export async function inspectStops(probe: Probe, dialect: Dialect, subject: Subject): Promise<Inspection> {
  const ask = async (stopSequences: readonly string[]) => {
    const request = trialRequest(subject, {
      ...switched(subject, false),
      maxOutputTokens: answerTokens,
      stopSequences,
    });
    return (await tryChat(probe, dialect, request)).text;
  };
  const whole = await ask([]);
  const stop = stopIn(whole);
  if (stop === undefined) {
    return { facts: { stops: "not seen" }, remarks: [] };
  }
  const ignored = (await ask([stop])) === whole;
  return {
    facts: { stops: ignored ? "ignored" : "heeded" },
    remarks: toRemarks([
      ignored,
      dialect.mayIgnoreStops
        ? warning("ignores stop sequences: Tollgate breaks its answers off there, which costs their tokens so far")
        : wrong("ignores stop sequences, so that answers go on beyond them: use a newer version, or engine: openai"),
    ]),
  };
}

/** The word, or a part of it, at which the first half of an answer ends. Undefined: there is no answer to speak of. */
function stopIn(text: string): string | undefined {
  const characters = [...(text.split("</think>").at(-1) ?? "")];
  const half = characters.slice(0, Math.floor(characters.length / 2)).join("");
  return characters.length < shortest ? undefined : half.trim().split(/\s+/).at(-1) || undefined;
}
