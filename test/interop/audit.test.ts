import { globSync } from "node:fs";
import type { DescMethodUnary, DescService } from "@bufbuild/protobuf";
import { type Client, createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Access, Role } from "#gen/tollgate/access/v1/access_pb.js";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { AuditService } from "#gen/tollgate/audit/v1/audit_service_pb.js";
import { CatalogueService } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import { WebhooksService } from "#gen/tollgate/events/v1/webhooks_service_pb.js";
import { PricesService } from "#gen/tollgate/metering/v1/prices_service_pb.js";
import { OperatorsService } from "#gen/tollgate/operators/v1/operators_service_pb.js";
import { readAccess, readRole } from "#src/wire/interceptors/access/required-access.ts";
import { models, type Service, startService } from "../support/service.ts";

// Every change of the contract, made on a real core, is in its audit log with who made it, what was before and what after.

let service: Service;
let accounts: Client<typeof AccountsService>;
beforeAll(async () => {
  service = await startService();
  accounts = createClient(AccountsService, service.operator);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const usd = 10n ** 12n;

/** The methods of the contract that change something for operators. */
async function changes(): Promise<string[]> {
  const services: DescService[] = [];
  for (const file of globSync("gen/tollgate/**/*_pb.js")) {
    const module: Record<string, { kind?: string }> = await import(`../../${file}`);
    services.push(...(Object.values(module).filter(({ kind }) => kind === "service") as DescService[]));
  }
  const isChange = (method: DescService["methods"][number]) =>
    [Access.OPERATOR, Access.CALLER_OR_OPERATOR].includes(readAccess(method)) && readRole(method) > Role.READER;
  return services.flatMap(({ methods }) => methods.filter(isChange).map(({ name }) => name));
}

interface Made {
  readonly accountId: string;
  readonly keyId: string;
  readonly serverId: string;
  readonly webhookId: string;
  readonly operatorId: string;
}

async function prepare(): Promise<Made> {
  const accountId = (await accounts.createAccount({ name: "Ada" })).account?.id ?? "";
  await accounts.topUp({ accountId, amountPicoUsd: 10n * usd, reference: "audit" });
  const { key } = await accounts.createKey({ accountId, name: "laptop" });
  const { servers } = await createClient(CatalogueService, service.operator).listServers({});
  const { webhook } = await createClient(WebhooksService, service.operator).createWebhook({
    url: "https://hook.invalid/",
    events: ["key.created"],
  });
  const { operator } = await createClient(OperatorsService, service.operator).createOperator({
    name: "Grace",
    role: Role.READER,
  });
  return {
    ...{ accountId, keyId: key?.id ?? "", serverId: servers[0]?.id ?? "" },
    ...{ webhookId: webhook?.id ?? "", operatorId: operator?.id ?? "" },
  };
}

/** What is noted of a change: the name that the contract has for its target, and a part of what was before and after. */
interface Change {
  readonly method: DescMethodUnary;
  readonly ask: (made: Made) => Record<string, unknown>;
  readonly target: (made: Made) => unknown;
  readonly before: Readonly<Record<string, unknown>>;
  readonly after: Readonly<Record<string, unknown>>;
}

const account = ({ accountId }: Made) => accountId;
const key = ({ keyId }: Made) => keyId;
const plain = () => models.plain;
const ofAccount = ({ accountId }: Made) => ({ accountId });
const ofKey = ({ keyId }: Made) => ({ keyId });
const ofModel = () => ({ model: models.plain });
const { topUp, grant, refund, updateAccount, freezeAccount, unfreezeAccount } = AccountsService.method;
const { updateKey, rotateKey, revokeKey } = AccountsService.method;
const { setPrice, pinPrice, unpinPrice } = PricesService.method;
const { drainServer, resumeServer } = CatalogueService.method;
const { rotateWebhookSecret, deleteWebhook, pauseWebhook, resumeWebhook } = WebhooksService.method;
const { revokeOperator } = OperatorsService.method;
const move = (amountPicoUsd: bigint, reference: string) => (made: Made) => ({
  ...ofAccount(made),
  amountPicoUsd,
  reference,
});
const paid = (amount: bigint) => ({ paid_total_pico_usd: String(amount) });

const replacing: readonly Change[] = [
  { method: topUp, ask: move(5n * usd, "a1"), target: account, before: paid(10n * usd), after: paid(15n * usd) },
  { method: grant, ask: move(usd, "a2"), target: account, before: paid(15n * usd), after: paid(15n * usd) },
  { method: refund, ask: move(usd, "a3"), target: account, before: paid(15n * usd), after: paid(14n * usd) },
  {
    ...{ method: updateAccount, target: account, before: { name: "Ada" }, after: { account: { name: "Grace" } } },
    ask: (made) => ({ ...ofAccount(made), name: "Grace" }),
  },
  {
    ...{ method: freezeAccount, target: account, before: { name: "Grace" } },
    ask: (made) => ({ ...ofAccount(made), reason: "unpaid" }),
    after: { account: { frozen: true, frozen_reason: "unpaid" } },
  },
  {
    ...{ method: unfreezeAccount, ask: ofAccount, target: account, after: { account: { name: "Grace" } } },
    before: { frozen: true, frozen_reason: "unpaid" },
  },
  {
    ...{
      method: updateKey,
      target: key,
      before: { name: "laptop" },
      after: { key: { limits: { tokens_per_minute: 1000 } } },
    },
    ask: (made) => ({ ...ofKey(made), limits: { tokensPerMinute: 1000 } }),
  },
  {
    ...{ method: rotateKey, ask: ofKey, before: { name: "laptop", limits: { tokens_per_minute: 1000 } } },
    ...{ target: () => expect.stringMatching(/./), after: { key_id: expect.stringMatching(/./) } },
  },
  {
    ...{ method: revokeKey, ask: ofKey, target: key, before: { limits: { tokens_per_minute: 1000 } } },
    after: { key: { revoked_at: expect.anything() } },
  },
  {
    ...{ method: setPrice, target: plain, before: { input_pico_usd_per_token: "200000" } },
    ask: () => ({ ...ofModel(), inputPicoUsdPerToken: 300_000n, outputPicoUsdPerToken: 400_000n }),
    after: { price: { input_pico_usd_per_token: "300000" } },
  },
  {
    ...{ method: pinPrice, ask: ofModel, target: plain, before: { input_pico_usd_per_token: "300000" } },
    after: { price: { pinned: true } },
  },
  {
    ...{ method: unpinPrice, ask: ofModel, target: plain, before: { pinned: true } },
    after: { price: { input_pico_usd_per_token: "300000" } },
  },
  {
    ...{ method: drainServer, target: ({ serverId }) => serverId, before: { id: expect.anything() } },
    ask: ({ serverId }) => ({ serverId }),
    after: { server: { id: expect.anything() } },
  },
  {
    ...{ method: resumeServer, target: ({ serverId }) => serverId, before: { id: expect.anything() } },
    ask: ({ serverId }) => ({ serverId }),
    after: { server: { id: expect.anything() } },
  },
  {
    ...{ method: rotateWebhookSecret, target: ({ webhookId }) => webhookId },
    ask: ({ webhookId }) => ({ webhookId }),
    before: { url: "https://hook.invalid/" },
    after: { webhook: { url: "https://hook.invalid/" } },
  },
  {
    ...{ method: pauseWebhook, target: ({ webhookId }) => webhookId },
    ask: ({ webhookId }) => ({ webhookId }),
    before: { url: "https://hook.invalid/" },
    after: { webhook: { paused_at: expect.stringMatching(/./) } },
  },
  {
    ...{ method: resumeWebhook, target: ({ webhookId }) => webhookId },
    ask: ({ webhookId }) => ({ webhookId }),
    before: { paused_at: expect.stringMatching(/./) },
    after: { webhook: { url: "https://hook.invalid/" } },
  },
  {
    ...{ method: deleteWebhook, target: ({ webhookId }) => webhookId },
    ask: ({ webhookId }) => ({ webhookId }),
    before: { url: "https://hook.invalid/" },
    after: { webhook_id: expect.anything() },
  },
  {
    ...{ method: revokeOperator, target: ({ operatorId }) => operatorId, before: { name: "Grace" } },
    ask: ({ operatorId }) => ({ operatorId }),
    after: { operator: { revoked_at: expect.anything() } },
  },
];

/** Changes that make something new: nothing was before. */
const making = ["CreateAccount", "CreateKey", "CreateOperator", "CreateWebhook", "SendTestEvent"];
/**
 * Those that need a charge that cannot be made, a session of the console, people, a payment provider or a configuration
 * file; their own tests look at them.
 */
const elsewhere = [
  ...["CreateSessionKey", "EndSessions", "DropDeadLetter", "SettleDeadLetter", "Reload"],
  ...["CreateInvitation", "RevokeInvitation", "SetMemberRole", "RemoveMember"],
  ...["CloseAccount", "CreateCheckout", "CreatePortalSession", "RefundPayment", "SetAutoTopUp"],
  "SetAccountPrices",
  "Redeliver",
];

test("who, what, before and after of every change are in the audit log, and no secret", async () => {
  const made = await prepare();
  await createClient(WebhooksService, service.operator).sendTestEvent({ webhookId: made.webhookId });
  for (const { method, ask } of replacing) {
    await service.operator.unary(method, undefined, undefined, {}, ask(made));
  }
  const { auditEvents } = await createClient(AuditService, service.operator).listAuditEvents({ pageSize: 500 });
  for (const { method, target, before, after } of replacing) {
    const noted = auditEvents.find((event) => event.method.endsWith(`/${method.name}`) && "before" in event);
    expect(noted).toMatchObject({
      ...{ operator: expect.stringMatching(/./), method: expect.anything(), target: target(made), before, after },
    });
  }
  for (const name of making) {
    const noted = auditEvents.find(({ method }) => method.endsWith(`/${name}`));
    expect(noted).toMatchObject({ target: expect.stringMatching(/./), after: expect.anything() });
    expect(noted?.before).toBeUndefined();
  }
  const texts = JSON.stringify(auditEvents.map(({ before, after }) => [before, after]));
  expect(texts.match(/whsec_|tg-\w{8}|"secret"/g)).toBeNull();
  const named = [...replacing.map(({ method }) => method.name), ...making, ...elsewhere];
  expect(named.toSorted()).toEqual((await changes()).toSorted());
});
