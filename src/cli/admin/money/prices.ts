import { createClient, type Transport } from "@connectrpc/connect";
import type { Command } from "commander";
import { PricesService } from "#gen/tollgate/metering/v1/prices_service_pb.js";
import { formatRate } from "#lib/money/money.ts";
import { readAll } from "#lib/rpc/pages.ts";
import { count, rate } from "../../shared/arguments.ts";
import type { Io } from "../../shared/io.ts";
import { addQuestion } from "../ask-core.ts";
import { priceDocument } from "../output/documents.ts";
import { required } from "../required.ts";

/** `tollgate prices …` */
export function addPrices(program: Command, io: Io): void {
  const group = program.command("prices").description("prices of models, in USD per 1M tokens");
  const client = (core: Transport) => createClient(PricesService, core);
  const list = (core: Transport) =>
    readAll(
      (page) => client(core).listPrices(page),
      ({ prices }) => prices,
    );

  addQuestion<[], object>(group, "list", io, {
    description: "list the live prices",
    ask: async (core) => (await list(core)).map(priceDocument),
  });
  addQuestion<[string], { limit?: number }>(group, "history <model>", io, {
    description: "list every price that a model has had, newest first",
    options: (command) => command.option("--limit <n>", "the most prices", count),
    ask: async (core, { limit }, model) => {
      const found = await readAll(
        (page) => client(core).listPriceHistory({ model, ...page }),
        ({ prices }) => prices,
        limit,
      );
      return found.map(priceDocument);
    },
  });
  addQuestion<[string], { input: bigint; output?: bigint; yes?: true }>(group, "set <model>", io, {
    description: "set the base and the live price at once; money that came in before keeps its own",
    options: (command) =>
      command
        .requiredOption("--input <usd>", "for 1M input tokens", rate)
        .option("--output <usd>", "for 1M output tokens; its base stays unless set", rate)
        .option("--yes", "a price that more than doubles or halves is meant"),
    ask: async (core, { input, output, yes }, model) => {
      const before = yes ? undefined : (await list(core)).find((price) => price.model === model);
      if (before !== undefined) {
        refuseLargeChange(before.inputPicoUsdPerToken, input, "input");
        refuseLargeChange(before.outputPicoUsdPerToken, output, "output");
      }
      const set = {
        model,
        inputPicoUsdPerToken: input,
        ...(output !== undefined && { outputPicoUsdPerToken: output }),
      };
      return priceDocument(required((await client(core).setPrice(set)).price));
    },
  });
  addQuestion<[string], { input?: bigint; output?: bigint }>(group, "pin <model>", io, {
    description: "stop a price from moving, at its live value or at the one given",
    options: (command) =>
      command
        .option("--input <usd>", "for 1M input tokens", rate)
        .option("--output <usd>", "for 1M output tokens", rate),
    ask: async (core, { input, output }, model) => {
      const pin = {
        model,
        ...(input === undefined ? {} : { inputPicoUsdPerToken: input }),
        ...(output === undefined ? {} : { outputPicoUsdPerToken: output }),
      };
      return priceDocument(required((await client(core).pinPrice(pin)).price));
    },
  });
  addQuestion<[string], object>(group, "unpin <model>", io, {
    description: "let a price move again",
    ask: async (core, _, model) => priceDocument(required((await client(core).unpinPrice({ model })).price)),
  });
}

/** Throws where a price more than doubles or halves, which may be a typing error; the console asks then, too. */
function refuseLargeChange(before: bigint, after: bigint | undefined, what: string): void {
  if (after !== undefined && before > 0n && (after > 2n * before || 2n * after < before)) {
    const change = `${what} price from ${formatRate(before)} to ${formatRate(after)} USD per 1M tokens`;
    throw new Error(`the ${change} is a large change: say --yes if it is meant`);
  }
}
