import { expect, test } from "@jest/globals";
import { startConsoleService } from "./console-service.ts";

test("a stranger who opens the public page too often is asked to wait, which is no failure of the console", async () => {
  await using started = await startConsoleService();
  const init = { headers: { accept: "text/html" } };
  const statuses = new Set<number>();
  for (let round = 0; round < 40 && !statuses.has(429); round += 1) {
    const answers = await Promise.all(Array.from({ length: 10 }, () => started.fetchAsPage("/", undefined, init)));
    for (const { status } of answers) {
      statuses.add(status);
    }
  }
  expect([...statuses]).toEqual([200, 429]);
}, 60_000);
