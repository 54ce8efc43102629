import { createClient, type Transport } from "@connectrpc/connect";
import { type Command, InvalidArgumentError } from "commander";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import type { GetAccountPricesResponse, SetAccountPricesResponse } from "#gen/tollgate/accounts/v1/own_prices_pb.js";
import { formatPercent, parsePercent } from "#lib/money/basis-points.ts";
import { formatRate, parseRate } from "#lib/money/money.ts";
import type { Io } from "../../shared/io.ts";
import { addQuestion } from "../ask-core.ts";
import { time } from "../output/documents.ts";
import { required } from "../required.ts";

interface Terms {
  readonly discount?: number;
  readonly fixed?: readonly FixedPrice[];
}

interface FixedPrice {
  readonly model: string;
  readonly inputPicoUsdPerToken: bigint;
  readonly outputPicoUsdPerToken: bigint;
}

/** Adds what an account's own prices are, and setting them. */
export function addAccountPrices(group: Command, io: Io): void {
  const client = (core: Transport) => createClient(AccountsService, core);
  const terms = (command: Command) =>
    command
      .option("--discount <percent>", "what is taken off every general price, such as 15 or 12.5", discount)
      .option(
        "--fixed <model=input/output>",
        "a model's fixed price in USD per 1M tokens, such as open/chat=0.15/0.2; may be repeated",
        addFixed,
      );

  addQuestion<[string], Terms>(group, "prices <account>", io, {
    description: "show what the next payment of an account would lock in, by its own prices or by those named here",
    options: terms,
    ask: async (core, named, accountId) => {
      const proposed = isNamed(named) ? { proposed: toOwnPrices(named) } : {};
      return accountPricesDocument(accountId, await client(core).getAccountPrices({ accountId, ...proposed }));
    },
  });
  addQuestion<[string], Terms & { general?: true }>(group, "set-prices <account>", io, {
    description: "set an account's own prices, in whole, for payments from now on; money that came in keeps its prices",
    options: (command) => terms(command).option("--general", "the general prices again"),
    ask: async (core, { general, ...named }, accountId) => {
      if (isNamed(named) === (general === true)) {
        throw new Error("name own prices by --discount and --fixed, or --general");
      }
      const ownPrices = toOwnPrices(named);
      return accountPricesDocument(accountId, await client(core).setAccountPrices({ accountId, ownPrices }));
    },
  });
}

const isNamed = ({ discount, fixed }: Terms) => discount !== undefined || fixed !== undefined;
const toOwnPrices = ({ discount = 0, fixed = [] }: Terms) => ({ discountBasisPoints: discount, fixed: [...fixed] });

/** What a payment of the account locks in, as a document. */
export function accountPricesDocument(accountId: string, answer: GetAccountPricesResponse | SetAccountPricesResponse) {
  const { discountBasisPoints, fixed } = required(answer.ownPrices);
  const fixedModels = new Set(fixed.map(({ model }) => model));
  return {
    id: accountId,
    discount_percent: formatPercent(discountBasisPoints),
    number: answer.number,
    set_at: time(answer.setAt),
    prices: answer.prices.map((price) => ({
      model: price.model,
      input: formatRate(price.inputPicoUsdPerToken),
      output: formatRate(price.outputPicoUsdPerToken),
      general_input: formatRate(price.generalInputPicoUsdPerToken),
      general_output: formatRate(price.generalOutputPicoUsdPerToken),
      fixed: fixedModels.has(price.model),
    })),
  };
}

function discount(text: string): number {
  const basisPoints = parsePercent(text);
  if (basisPoints === undefined || basisPoints > 9999) {
    throw new InvalidArgumentError(
      "It must be a per cent from 0 to 99.99 with at most 2 decimals, such as 15 or 12.5.",
    );
  }
  return basisPoints;
}

function addFixed(text: string, before: readonly FixedPrice[] = []): readonly FixedPrice[] {
  const [, model = "", inputUsd = "", outputUsd = "0"] = /^(.+)=([^=/]+)(?:\/([^=/]+))?$/.exec(text) ?? [];
  const [input, output] = [parseRate(inputUsd), parseRate(outputUsd)];
  if (input === undefined || output === undefined) {
    throw new InvalidArgumentError("It must be a model and USD per 1M tokens, such as open/chat=0.15/0.2.");
  }
  return [...before, { model, inputPicoUsdPerToken: input, outputPicoUsdPerToken: output }];
}
