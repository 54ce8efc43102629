import { createClient, type Transport } from "@connectrpc/connect";
import type { Command } from "commander";
import { validate as isUuid } from "uuid";
import { FindService, type Found } from "#gen/tollgate/find/v1/find_service_pb.js";

/** What people may name otherwise than by its id. */
const kinds = ["account", "key"] as const;

const mostFound = 100;
/** The most things that a refusal shows. */
const mostShown = 3;

/**
 * The arguments and options of a command with ids in the place of names: an account by its whole name, a key by its last
 * four characters or its name. Throws where nothing or more than one thing has the name: a filter by what does not exist
 * would answer "none".
 */
export async function resolveNames<Options>(core: Transport, command: Command, options: Options) {
  const args: unknown[] = await Promise.all(
    command.processedArgs.map((value, at) => resolve(core, command.registeredArguments[at]?.name(), value)),
  );
  const given = options as Record<string, unknown>;
  const named = await Promise.all(kinds.map(async (kind) => [kind, await resolve(core, kind, given[kind])] as const));
  const found = named.filter(([kind]) => kind in given);
  return { args, options: { ...options, ...Object.fromEntries(found) } };
}

async function resolve(core: Transport, name: string | undefined, value: unknown): Promise<unknown> {
  const kind = kinds.find((one) => one === name);
  if (kind === undefined || typeof value !== "string" || value === "" || isUuid(value)) {
    return value;
  }
  const { found } = await createClient(FindService, core).findAnything({ text: value, pageSize: mostFound });
  const alike = found.filter((one) => one.kind === kind);
  const same = alike.filter((one) => isNamed(one, value));
  const [only, ...others] = same;
  if (others.length > 0) {
    const ids = same.slice(0, mostShown).map(({ id }) => id);
    const rest = same.length > mostShown ? ", …" : "";
    throw new Error(`Several ${kind}s are called ${value}: name one by its id, ${ids.join(", ")}${rest}`);
  }
  if (only === undefined) {
    const names = alike.slice(0, mostShown).map(({ id, name }) => name || id);
    const hint = names.length === 0 ? "" : ` Like it: ${names.join(", ")}`;
    throw new Error(`There is no ${kind} ${value}.${hint}`);
  }
  return only.id;
}

function isNamed({ name, mark }: Found, text: string): boolean {
  return name.toLowerCase() === text.toLowerCase() || (text.length === 4 && mark.endsWith(text));
}
