import type { EngineRequest } from "../../interface.ts";
import type { Dialect } from "../chat-completions/dialect.ts";
import { type ChatTrial, trialRequest, tryChat } from "./chat-trial.ts";
import { type Inspection, type Subject, toRemarks, warning, wrong } from "./inspection.ts";
import type { Probe } from "./probe.ts";

/** Output tokens within which a thinking model shows that it thinks. */
const thoughtTokens = 32;

/** The fields of a request with the thinking of a model switched. Empty: the model has no switch. */
export function switched({ model }: Subject, enabled: boolean): Pick<EngineRequest, "thinking"> {
  const { mode } = model.thinking;
  const hasSwitch = mode === "default_on" || mode === "default_off";
  return hasSwitch ? { thinking: { enabled, deepest: false } } : {};
}

/** Learns whether a server thinks when it is told to, and only then. `option` makes it tell thinking apart. */
export async function inspectThinking(
  probe: Probe,
  dialect: Dialect,
  subject: Subject,
  option: string | undefined,
): Promise<Inspection> {
  const { mode } = subject.model.thinking;
  const thinking = mode === "none" ? {} : { thinking: { enabled: true, deepest: false } };
  const on = await tryChat(probe, dialect, trialRequest(subject, { ...thinking, maxOutputTokens: thoughtTokens }));
  const place = placeOf(on);
  const mend = option === undefined ? "" : `: ${option}`;
  const { refusal } = on;
  return {
    facts: { thinking: place },
    remarks: toRemarks(
      [refusal !== undefined, wrong(`refuses to think (${refusal}): look at thinking: of the model`)],
      [
        mode === "none" && place !== "none seen",
        warning("thinks, although the configuration says that the model does not: set thinking: of the model"),
      ],
      [
        mode !== "none" && place === "in the text",
        warning(`leaves thinking in the text, from where Tollgate takes it, uncounted${mend}`),
      ],
      [
        mode !== "none" && refusal === undefined && place === "none seen",
        warning(`did not think in ${thoughtTokens} tokens: look at thinking: of the model${mend}`),
      ],
      [
        await thinksUnasked(probe, dialect, subject),
        wrong(
          "thinks although it is told not to, and clients pay for it: set thinking: { mode: always } of the model, or another switch",
        ),
      ],
    ),
  };
}

async function thinksUnasked(probe: Probe, dialect: Dialect, subject: Subject): Promise<boolean> {
  const off = switched(subject, false);
  if (off.thinking === undefined) {
    return false;
  }
  const request = trialRequest(subject, { ...off, maxOutputTokens: thoughtTokens });
  return placeOf(await tryChat(probe, dialect, request)) !== "none seen";
}

/** Where thinking came. Tags around nothing are a template's way not to think. */
function placeOf({ thoughts, text }: ChatTrial): "apart" | "in the text" | "none seen" {
  if (thoughts.trim() !== "") {
    return "apart";
  }
  return /<\/?think>/.test(dropEmptyThinking(text)) ? "in the text" : "none seen";
}

function dropEmptyThinking(text: string): string {
  const thoughts = dropPrefix(text.trimStart(), "<think>").trimStart();
  return thoughts.startsWith("</think>") ? dropPrefix(thoughts, "</think>") : text;
}

function dropPrefix(text: string, prefix: string): string {
  return text.startsWith(prefix) ? text.slice(prefix.length) : text;
}
