import { test } from "@jest/globals";
import { v7 } from "uuid";
import { delivering, passUntil } from "./delivering.ts";

const start = delivering();

test("an endpoint that hangs holds no other one up, and is cut off", async () => {
  const { clock, webhooks, core, endpoint, tell, outcomes } = await start();
  const [hanging, other] = [await endpoint(), await endpoint()];
  hanging.answer = () => "hang";
  await webhooks.create(hanging.url, ["account.topped_up"]);
  await webhooks.create(other.url, ["account.topped_up"]);
  core().start();
  const accounts = Array.from({ length: 30 }, () => v7());
  for (const account of accounts) {
    await tell(account, "r");
  }
  await passUntil(clock, 14, () => other.received.length === 30, 500);
  await passUntil(clock, 60, () => outcomes.includes("retried"), 5000);
});

test("endpoints that hang leave places to the others, however many they are and however much waits for them", async () => {
  const { clock, webhooks, core, endpoint, tell, outbox } = await start();
  const [hanging, other] = [await endpoint(), await endpoint()];
  hanging.answer = () => "hang";
  for (let count = 0; count < 20; count++) {
    await webhooks.create(hanging.url, ["account.topped_up"]);
  }
  const accounts = Array.from({ length: 20 }, () => v7());
  for (const account of accounts) {
    await tell(account, "r");
  }
  core().start();
  await outbox.spread();
  await clock.pass(2000); // they have what places there are for them
  await webhooks.create(other.url, ["account.topped_up"]);
  for (const account of accounts) {
    await tell(account, "later");
  }
  await passUntil(clock, 5, () => other.received.length === 20, 500);
}, 60_000);
