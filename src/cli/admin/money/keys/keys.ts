import { randomUUID } from "node:crypto";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { createClient, type Transport } from "@connectrpc/connect";
import { type Command, InvalidArgumentError, Option } from "commander";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { keyLimits } from "#lib/limits/key-limits.ts";
import { readAll } from "#lib/rpc/pages.ts";
import { count, span } from "../../../shared/arguments.ts";
import type { Io } from "../../../shared/io.ts";
import { addQuestion } from "../../ask-core.ts";
import { keyDocument } from "../../output/documents.ts";
import { required } from "../../required.ts";
import { addLimitOptions, type LimitOptions, limitFlags, readLimitOptions, requireBudget } from "./key-limits.ts";

const shownOnce = "The key is shown only now: it is not stored.";

/** `tollgate keys …` */
export function addKeys(program: Command, io: Io): void {
  const group = program.command("keys").description("API keys of accounts");
  const client = (core: Transport) => createClient(AccountsService, core);

  addQuestion<[string], LimitOptions & { name?: string; manages?: true }>(group, "create <account>", io, {
    description: "make a key and show it, the only time",
    options: (command) =>
      addLimitOptions(
        command
          .option("--name <name>", "a label")
          .option("--manages", "a key that manages its account's keys, and runs no inference")
          .option("--rpm <n>", keyLimits.rpm.help, count),
      ),
    ask: async (core, { name = "", manages = false, ...options }, accountId) => {
      requireBudget(options, options.usd !== undefined);
      const made = await client(core).createKey({
        accountId,
        name,
        requestId: randomUUID(),
        manages,
        limits: readLimitOptions(options).limits,
      });
      return { id: required(made.key).id, key: made.secret };
    },
    note: shownOnce,
  });
  addQuestion<[string | undefined], object>(group, "list [account]", io, {
    description: "list keys, ended ones included: an account's, or all, the last used first",
    ask: async (core, _, accountId = "") =>
      (
        await readAll(
          (page) => client(core).listKeys({ accountId, ...page }),
          ({ keys }) => keys,
        )
      ).map(keyDocument),
  });
  addQuestion<[string], { overlap: number }>(group, "rotate <key>", io, {
    description: "make a key that takes another's place and show it, the only time",
    options: (command) =>
      command.addOption(
        new Option("--overlap <span>", "how long the old key works on, such as 90m; 0s ends it at once")
          .argParser(span)
          .default(span("24h"), "24h"),
      ),
    ask: async (core, { overlap }, keyId) => {
      const made = await client(core).rotateKey({ keyId, overlap: durationFromMs(overlap), requestId: randomUUID() });
      return { id: required(made.key).id, key: made.secret };
    },
    note: shownOnce,
  });
  addQuestion<[string], object>(group, "revoke <key>", io, {
    description: "end a key, everywhere within 10 seconds",
    ask: async (core, _, keyId) => keyDocument(required((await client(core).revokeKey({ keyId })).key)),
  });
  for (const [verb, disabled, description] of [
    ["disable", true, "refuse a key until it is enabled again, everywhere within 10 seconds"],
    ["enable", false, "let a key that was disabled work again"],
  ] as const) {
    addQuestion<[string], object>(group, `${verb} <key>`, io, {
      description,
      ask: async (core, _, keyId) => keyDocument(required((await client(core).updateKey({ keyId, disabled })).key)),
    });
  }
  addQuestion<[string], LimitOptions>(group, "set-limits <key>", io, {
    description: "set or lift limits of a key; limits that are not named stay as they are",
    options: addLimitOptions,
    ask: async (core, options, keyId) => {
      const { limits, paths } = readLimitOptions(options);
      if (paths.length === 0) {
        throw new Error(`no limit is named: name one of ${limitFlags}`);
      }
      return keyDocument(required((await client(core).updateKey({ keyId, updateMask: { paths }, limits })).key));
    },
  });
  addQuestion<[string, number | undefined], object>(group, "set-rpm", io, {
    description: "set a key's own requests a minute; \"none\" lets the account's tier decide",
    options: (command) =>
      command
        .argument("<key>")
        .argument("<n>", 'requests a minute, or "none" to let the account\'s tier decide', ownRpm),
    ask: async (core, _, keyId, rpm) => {
      const { limits, paths } = readLimitOptions({ rpm: rpm ?? "none" });
      return keyDocument(required((await client(core).updateKey({ keyId, updateMask: { paths }, limits })).key));
    },
  });
}

function ownRpm(text: string): number | undefined {
  if (text === "none") {
    return undefined;
  }
  try {
    return count(text);
  } catch {
    throw new InvalidArgumentError('It must be a whole number above 0, or "none".');
  }
}
