import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { reasonTexts } from "#lib/errors/reason-texts.ts";
import { freePort } from "../../../scripts/test-services/free-port.ts";
import { type Simulator, startSimulator } from "../../../simulator/server.ts";
import { openStage, type Stage } from "../stage/stage.ts";
import { readReasons, refuseInAllWays, signInAsMember } from "./refused-life.ts";

// The walk of somebody whose call was refused: from the x-request-id of the answer to the reason and what to do about it.
// A Tollgate of its own: one of its models has no server, and its accounts begin without money.

let engine: Simulator;
let stage: Stage;
beforeAll(async () => {
  engine = await startSimulator({ models: ["up"], speed: 0 });
  const models = [
    { id: "up", servers: [{ url: engine.url, engine: "vllm" }] },
    { id: "down", servers: [{ url: `http://127.0.0.1:${await freePort()}`, engine: "vllm" }] },
  ];
  stage = await openStage({ config: { models, free_tier: { grant_usd: "0" }, fleet: { health_interval_s: 1 } } });
}, 120_000);
afterAll(async () => {
  await stage.close();
  await engine.close();
});

test("a member and an operator paste the id of a refused request, and read the reason and what to do", async () => {
  const member = await signInAsMember(stage);
  const refused = await refuseInAllWays(stage, member.accountId);
  expect(refused.map(({ why, status }) => [why, status])).toEqual([
    ["the balance is spent", 429],
    ["no such model", 404],
    ["no server of the model is up", 503],
    ["the body is too large", 413],
    ["the body is broken", 400],
    ["the key's rate", 429],
    ["the key's budget", 429],
    ["a key for other models", 404],
    ["a key that only manages", 403],
    ["the key is revoked", 401],
    ["the account is frozen", 403],
  ]);
  const told = refused.map(({ reason }) => {
    const { what, advice } = reasonTexts[Reason[reason as keyof typeof Reason]];
    return `${reason.toLowerCase().replaceAll("_", " ")} ${what} ${advice}`;
  });
  expect(await readReasons(member.page, refused)).toEqual(told);
  const { page } = await stage.visit();
  await page.goto(await stage.makeLink("reader"));
  expect(await readReasons(page, refused)).toEqual(told);
  expect(stage.complaints).toEqual([]);
}, 240_000);
