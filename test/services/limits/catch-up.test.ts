import { type DescField, type DescMessage, getOption } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { expect, test } from "@jest/globals";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { BooksService } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { shows_charges } from "#gen/tollgate/metering/v1/consistency_pb.js";
import { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { catchUp } from "#src/services/limits/catch-up.ts";
import { createDirectTransport } from "#src/wire/grpc/direct/direct-transport.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";

/** Whether a message, or one in it, has an amount of money. */
function hasMoney(message: DescMessage, seen: Set<DescMessage> = new Set()): boolean {
  if (seen.has(message)) {
    return false;
  }
  seen.add(message);
  const inField = (field: DescField) =>
    field.name.endsWith("pico_usd") || (field.message !== undefined && hasMoney(field.message, seen));
  return message.fields.some(inField);
}

const methods = [AccountsService, BooksService, MeteringService].flatMap((service) =>
  service.methods.map((method) => ({ name: `${service.name}.${method.name}`, method })),
);

test("every method that answers with money waits for the charges that were acknowledged before", () => {
  const answering = methods.filter(({ method }) => hasMoney(method.output));
  expect(answering.length).toBeGreaterThan(15);
  const forgetful = answering.filter(({ method }) => !getOption(method, shows_charges));
  expect(forgetful.map(({ name }) => name)).toEqual([]);
});

test("a method waits when its option says so, and no other does", async () => {
  const order: string[] = [];
  const ledger = {
    async caughtUp() {
      order.push("caught up");
    },
  };
  const service = registration(AccountsService, {
    listAccounts() {
      order.push("listed");
      return {};
    },
    identifyCaller() {
      order.push("identified");
      return {};
    },
  });
  const accounts = createClient(AccountsService, createDirectTransport([service], [catchUp(ledger)]));
  await accounts.listAccounts({});
  await accounts.identifyCaller({});
  expect(order).toEqual(["caught up", "listed", "identified"]);
});
