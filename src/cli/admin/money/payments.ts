import { randomUUID } from "node:crypto";
import { createClient } from "@connectrpc/connect";
import type { Command } from "commander";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { PaymentsService } from "#gen/tollgate/payments/v1/payments_service_pb.js";
import { readAll } from "#lib/rpc/pages.ts";
import { usd } from "../../shared/arguments.ts";
import type { Io } from "../../shared/io.ts";
import { addQuestion } from "../ask-core.ts";
import { paymentDocument } from "../output/documents.ts";
import { autoTopUpDocument, paymentEventDocument, refundDocument } from "../output/payment-documents.ts";

/** `tollgate payments …` */
export function addPayments(program: Command, io: Io): void {
  const group = addQuestion<[string], object>(program, "payments <account>", io, {
    description: "list what an account has paid, was given and got back, newest first",
    ask: async (core, _, accountId) => {
      const client = createClient(AccountsService, core);
      const found = await readAll(
        (page) => client.listPayments({ accountId, ...page }),
        ({ payments }) => payments,
      );
      return found.map(paymentDocument);
    },
  }).enablePositionalOptions();
  addQuestion<[], { unmatched?: boolean }>(group, "list", io, {
    description: "list what the payment provider told, and what became of it, newest first",
    options: (command) => command.option("--unmatched", "only payments that found no account"),
    ask: async (core, { unmatched = false }) => {
      const client = createClient(PaymentsService, core);
      const found = await readAll(
        (page) => client.listPaymentEvents({ unmatched, ...page }),
        ({ paymentEvents }) => paymentEvents,
      );
      return found.map(paymentEventDocument);
    },
  });
  addQuestion<[string], { usd?: bigint; requestId?: string }>(group, "refund <reference>", io, {
    description: "pay unspent money of a payment back through the payment provider",
    options: (command) =>
      command
        .option("--usd <amount>", "how much, in whole cents; all that is left and unspent unless set", usd)
        .option("--request-id <id>", "the refund's own name: the same again moves nothing twice"),
    ask: async (core, { usd: amountPicoUsd = 0n, requestId = randomUUID() }, reference) => {
      const client = createClient(PaymentsService, core);
      const { refunds } = await client.refundPayment({ reference, amountPicoUsd, requestId });
      return refunds.map(refundDocument);
    },
  });
}

interface AutoTopUpOptions {
  readonly below?: bigint;
  readonly usd?: bigint;
  readonly aMonth?: bigint;
  readonly off?: boolean;
}

/** `tollgate accounts auto-top-up` */
export function addAutoTopUp(accounts: Command, io: Io): void {
  addQuestion<[string], AutoTopUpOptions>(accounts, "auto-top-up <account>", io, {
    description: "charge an account's saved card once its balance is low; without options: show what is set",
    options: (command) =>
      command
        .option("--below <amount>", "charge once the balance is below this, in USD", usd)
        .option("--usd <amount>", "how much to charge, in USD", usd)
        .option("--a-month <amount>", "the most to charge in a calendar month (UTC), in USD", usd)
        .option("--off", "charge it no more"),
    ask: async (core, { below = 0n, usd: amount = 0n, aMonth = 0n, off = false }, accountId) => {
      const client = createClient(PaymentsService, core);
      const given = [below, amount, aMonth].filter((value) => value > 0n).length;
      if (given === 0 && !off) {
        return autoTopUpDocument((await client.getAutoTopUp({ accountId })).autoTopUp);
      }
      if (off ? given > 0 : given < 3) {
        throw new Error("name --below, --usd and --a-month, or --off alone");
      }
      const wish = { belowPicoUsd: below, amountPicoUsd: amount, monthlyPicoUsd: aMonth };
      return autoTopUpDocument((await client.setAutoTopUp({ accountId, ...wish })).autoTopUp);
    },
  });
}
