import { parseArgs } from "node:util";
import { scenarios } from "./registry.ts";
import type { PeerOptions } from "./systems/peer.ts";

/** What a run is asked to do. */
export interface Options {
  /** Names of scenarios; all when empty. */
  readonly scenarios: readonly string[];
  readonly quick: boolean;
  readonly rounds: number;
  /** Milliseconds that a round measures. */
  readonly duration: number;
  /** How often a turn that others disturbed is taken again. */
  readonly retakes: number;
  /** How long a soak or a run of crashes lasts. Undefined: as long as it usually does. */
  readonly minutes: number | undefined;
  /** Names of the systems that take part; all of a scenario when empty. */
  readonly systems: readonly string[];
  /** A directory with recorded traces; such are made up when undefined. */
  readonly traces: string | undefined;
  /** A report of an earlier run to compare with. */
  readonly against: string | undefined;
  /** Where the report and the plots go; nowhere for a quick run unless it is said. */
  readonly out: string | undefined;
  /** Whether one JSON object is printed instead of tables. */
  readonly json: boolean;
  readonly peer: PeerOptions | undefined;
}

const list = scenarios
  .map(({ name, shows, onlyNamed }) => `    ${name.padEnd(18)}${shows}${onlyNamed ? "; only when named" : ""}`)
  .join("\n");

export const usageText = `npm run bench [-- SCENARIO… OPTIONS]

  SCENARIO            all unless named:
${list}

  --quick             the cells that say most, shorter; writes no files unless --out is given
  --rounds N          how often the systems take turns (3; quick 2)
  --seconds S         how long each turn is measured (2; quick 1.5)
  --retakes N         how often a turn is taken again that others disturbed (4)
  --minutes M         how long a soak (30) or a run of crashes (10) lasts
  --traces DIR        recorded traces for routing, which else makes some up (docs/performance)
  --systems A,B       only these systems (pass-through is always there)
  --against FILE      print what changed by more than 5 % since that report
  --out DIR           where the report and the plots go (docs/performance)
  --json              print the report as one JSON object
  --peer-url URL --peer-command COMMAND [--peer-header "name: value"]…
                      another gateway: where its chat completions are and how it is started;
                      $ENGINE stands for the engine's base URL
`;

/** Throws a message for people when the arguments are wrong. */
export function parseOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      quick: { type: "boolean", default: false },
      rounds: { type: "string" },
      seconds: { type: "string" },
      retakes: { type: "string" },
      minutes: { type: "string" },
      systems: { type: "string" },
      traces: { type: "string" },
      against: { type: "string" },
      out: { type: "string" },
      json: { type: "boolean", default: false },
      "peer-url": { type: "string" },
      "peer-command": { type: "string" },
      "peer-header": { type: "string", multiple: true, default: [] },
    },
  });
  const known = scenarios.map(({ name }) => name);
  const unknown = positionals.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new Error(`no scenario "${unknown}"; there are ${known.join(", ")}`);
  }
  const { quick } = values;
  return {
    scenarios: positionals,
    quick,
    rounds: positive("--rounds", values.rounds, quick ? 2 : 3),
    duration: positive("--seconds", values.seconds, quick ? 1.5 : 2) * 1000,
    retakes: retakes(values.retakes),
    minutes: values.minutes === undefined ? undefined : positive("--minutes", values.minutes),
    systems: values.systems?.split(",") ?? [],
    traces: values.traces,
    against: values.against,
    out: values.out ?? (quick ? undefined : "docs/performance"),
    json: values.json,
    peer: peerOptions(values["peer-url"], values["peer-command"], values["peer-header"]),
  };
}

function peerOptions(url: string | undefined, command: string | undefined, headers: string[]): PeerOptions | undefined {
  if (url === undefined && command === undefined) {
    return undefined;
  }
  if (url === undefined || command === undefined) {
    throw new Error("--peer-url and --peer-command go together");
  }
  return { url, command, headers };
}

function retakes(text = "4"): number {
  if (!/^\d{1,3}$/.test(text)) {
    throw new Error(`--retakes must be a whole number, not "${text}"`);
  }
  return Number(text);
}

function positive(name: string, text: string | undefined, otherwise = Number.NaN): number {
  const value = text === undefined ? otherwise : Number(text);
  if (!(value > 0)) {
    throw new Error(`${name} must be a number above zero, not "${text}"`);
  }
  return value;
}
