import { randomUUID } from "node:crypto";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createClient, type Transport } from "@connectrpc/connect";
import { type Command, Option } from "commander";
import { AccountOrder, AccountState } from "#gen/tollgate/accounts/v1/account_requests_pb.js";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { formatUsd } from "#lib/money/money.ts";
import { readAll } from "#lib/rpc/pages.ts";
import { count, deadline, orNone, usd } from "../../shared/arguments.ts";
import type { Io } from "../../shared/io.ts";
import { classOption, readClass } from "../../shared/service-class.ts";
import { addQuestion } from "../ask-core.ts";
import { accountDocument, movementDocument } from "../output/documents.ts";
import { required } from "../required.ts";
import { addAccountPeople } from "./account-people.ts";
import { addAccountPrices } from "./account-prices.ts";
import { addAutoTopUp } from "./payments.ts";

interface Movement {
  readonly usd: bigint;
  readonly ref: string;
}

interface LimitOptions {
  readonly inFlight?: number | "none";
  readonly lowBalanceUsd?: bigint | "none";
  readonly class?: string;
  readonly credit?: bigint | "none";
}

/** The states that accounts are listed by. */
const states = { frozen: AccountState.FROZEN, "in-debt": AccountState.IN_DEBT, low: AccountState.LOW } as const;
/** What accounts are ordered by unless it is their age. */
const orders = { "last-use": AccountOrder.LAST_USE } as const;

/** `tollgate accounts …` */
export function addAccounts(program: Command, io: Io): void {
  const group = program.command("accounts").description("accounts and their money");
  const client = (core: Transport) => createClient(AccountsService, core);
  const movement = (command: Command) =>
    command
      .requiredOption("--usd <amount>", "how much, in exact decimal USD", usd)
      .requiredOption("--ref <reference>", "the movement's own name: the same again moves nothing twice");

  addQuestion<[], { name?: string; email?: string; maxKeys?: number }>(group, "create", io, {
    description: "make an account; the free-tier grant is given at once",
    options: (command) =>
      command
        .option("--name <name>", "a label")
        .option("--email <address>", "where its mail goes")
        .option("--max-keys <n>", "how many live keys it may have", count),
    ask: async (core, { name = "", email = "", maxKeys }) => {
      const { account } = await client(core).createAccount({
        name,
        email,
        requestId: randomUUID(),
        ...(maxKeys === undefined ? {} : { maxKeys }),
      });
      return accountDocument(required(account));
    },
  });
  addQuestion<[], { name?: string; state?: keyof typeof states; sort?: keyof typeof orders }>(group, "list", io, {
    description: "list all accounts, oldest first",
    options: (command) =>
      command
        .option("--name <text>", "only accounts whose name begins with this text, in any case; ordered by name")
        .addOption(new Option("--state <state>", "only accounts in this state").choices(Object.keys(states)))
        .addOption(
          new Option("--sort <order>", "only accounts that were used, newest first").choices(Object.keys(orders)),
        ),
    ask: async (core, { name = "", state, sort }) => {
      const asked = { name, ...(state && { state: states[state] }), ...(sort && { order: orders[sort] }) };
      const found = await readAll(
        (page) => client(core).listAccounts({ ...asked, ...page }),
        ({ accounts }) => accounts,
      );
      return found.map(accountDocument);
    },
  });
  addQuestion<[string], { allCredits?: boolean }>(group, "show <account>", io, {
    description: "show an account and its credits with money left, at most 100, in the order of spending",
    options: (command) => command.option("--all-credits", "all credits instead, spent ones included, oldest first"),
    ask: async (core, { allCredits = false }, accountId) => {
      if (!allCredits) {
        return accountDocument(required((await client(core).getAccount({ accountId })).account));
      }
      const pages = await readAll(
        (page) => client(core).getAccount({ accountId, allLots: true, ...page }),
        ({ account }) => [required(account)],
      );
      return accountDocument({ ...required(pages[0]), lots: pages.flatMap(({ lots }) => lots) });
    },
  });
  addQuestion<[string], { name?: string; email?: string; maxKeys?: number }>(group, "update <account>", io, {
    description: "change an account's label, where its mail goes, or how many keys it may have",
    options: (command) =>
      command
        .option("--name <name>", "a label")
        .option("--email <address>", "where its mail goes; none: nowhere")
        .option("--max-keys <n>", "how many live keys it may have", count),
    ask: async (core, { name, email, maxKeys }, accountId) => {
      const changes = {
        ...(name === undefined ? {} : { name }),
        ...(email === undefined ? {} : { email: email === "none" ? "" : email }),
        ...(maxKeys === undefined ? {} : { maxKeys }),
      };
      return accountDocument(required((await client(core).updateAccount({ accountId, ...changes })).account));
    },
  });
  addQuestion<[string], LimitOptions>(group, "set-limits <account>", io, {
    description: "set or lift limits of an account; limits that are not named stay as they are",
    options: (command) =>
      command
        .option("--in-flight <n>", "requests that it may run at once; 0 or none: its tier decides", orNone(count))
        .option(
          "--low-balance-usd <amount>",
          "a balance below this is low; 0 or none: its last top-up decides",
          orNone(usd),
        )
        .option(
          "--credit <usd>",
          "the most that it may owe, in exact decimal USD; 0 or none: it is prepaid",
          orNone(usd, "ends the credit line"),
        )
        .addOption(classOption("none: standard")),
    ask: async (core, { inFlight, lowBalanceUsd, credit, class: ofClass }, accountId) => {
      const named = {
        max_in_flight: inFlight,
        low_balance_pico_usd: lowBalanceUsd,
        credit_line_pico_usd: credit,
        service_class: ofClass,
      };
      const paths = Object.entries(named).flatMap(([path, value]) => (value === undefined ? [] : [path]));
      if (paths.length === 0) {
        throw new Error("no limit is named: name one of --in-flight, --low-balance-usd, --credit, --class");
      }
      const limits = {
        ...(typeof inFlight === "number" ? { maxInFlight: inFlight } : {}),
        ...(typeof lowBalanceUsd === "bigint" ? { lowBalancePicoUsd: lowBalanceUsd } : {}),
        ...(typeof credit === "bigint" ? { creditLinePicoUsd: credit } : {}),
        ...(ofClass === undefined ? {} : { serviceClass: readClass(ofClass) }),
      };
      const changed = await client(core).updateAccount({ accountId, updateMask: { paths }, ...limits });
      return accountDocument(required(changed.account));
    },
  });
  addQuestion<[string], { reason: string }>(group, "freeze <account>", io, {
    description: "run no new request for an account; running requests finish, and its money stays",
    options: (command) => command.requiredOption("--reason <text>", "why; callers are told"),
    ask: async (core, { reason }, accountId) =>
      accountDocument(required((await client(core).freezeAccount({ accountId, reason })).account)),
  });
  addQuestion<[string], object>(group, "unfreeze <account>", io, {
    description: "let an account run requests again, unless it is closed and nobody has it any more",
    ask: async (core, _, accountId) =>
      accountDocument(required((await client(core).unfreezeAccount({ accountId })).account)),
  });
  addQuestion<[string], Movement>(group, "top-up <account>", io, {
    description: "take a payment in, at today's prices",
    options: movement,
    ask: async (core, { usd, ref }, accountId) =>
      movementDocument(await client(core).topUp({ accountId, amountPicoUsd: usd, reference: ref })),
  });
  addQuestion<[string], Movement & { expires?: Date }>(group, "grant <account>", io, {
    description: "give money away; it counts as unpaid",
    options: (command) =>
      movement(command).option(
        "--expires <time>",
        "when it lapses, such as 30d or 2026-01-31T12:00:00Z; never unless set",
        deadline,
      ),
    ask: async (core, { usd, ref, expires }, accountId) => {
      const expiresAt = expires ? { expiresAt: timestampFromDate(expires) } : {};
      return movementDocument(
        await client(core).grant({ accountId, amountPicoUsd: usd, reference: ref, ...expiresAt }),
      );
    },
  });
  addAccountPrices(group, io);
  addAutoTopUp(group, io);
  addQuestion<[string], Movement>(group, "refund <account>", io, {
    description: "pay unspent paid money back",
    options: movement,
    ask: async (core, { usd, ref }, accountId) =>
      movementDocument(await client(core).refund({ accountId, amountPicoUsd: usd, reference: ref })),
  });
  addQuestion<[string], object>(group, "close <account>", io, {
    description: "give back what was paid and not spent, end keys and people; the books stay",
    ask: async (core, _, accountId) => {
      const closed = await client(core).closeAccount({ accountId, requestId: randomUUID() });
      return { id: accountId, refunded_usd: formatUsd(closed.refundedPicoUsd) };
    },
  });
  addAccountPeople(group, io);
}
