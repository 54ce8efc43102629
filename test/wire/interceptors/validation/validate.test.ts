import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { UpdateAccountRequestSchema } from "#gen/tollgate/accounts/v1/account_requests_pb.js";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { KeyLimitsSchema } from "#gen/tollgate/accounts/v1/key_limits_pb.js";
import { CreateKeyRequestSchema } from "#gen/tollgate/accounts/v1/key_requests_pb.js";
import { EmbeddingsService } from "#gen/tollgate/embeddings/v1/embeddings_service_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { Role } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { type GenerateRequestSchema, InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { SetPriceRequestSchema } from "#gen/tollgate/metering/v1/prices_service_pb.js";
import { CreateOperatorRequestSchema } from "#gen/tollgate/operators/v1/operators_service_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { createChecks } from "#src/wire/interceptors/validation/message-checks.ts";
import { validateRequests } from "#src/wire/interceptors/validation/validate.ts";
import { type Route, routes } from "../../grpc/transports.ts";

type Generate = MessageInitShape<typeof GenerateRequestSchema>;
const text = { prompt: { case: "text", value: "Once" } } as const;
const user = { role: Role.USER, text: "hello" };
const talk = (value: object): Generate => ({ prompt: { case: "conversation", value } });
const texts = (...values: string[]): Generate => ({ prompt: { case: "texts", value: { texts: values } } });

const services = [
  registration(InferenceService, {
    async *generate() {
      yield {};
    },
    countTokens: () => ({}),
  }),
  registration(EmbeddingsService, { embed: () => ({}) }),
  registration(MeteringService, {
    async *streamUsage() {
      yield {};
    },
  }),
  registration(AccountsService, {
    createAccount: () => ({}),
    updateAccount: () => ({}),
    listAccounts: () => ({}),
    topUp: () => ({}),
    createKey: () => ({}),
    freezeAccount: () => ({}),
  }),
];

/** What a call is refused for: the field and the words. Undefined: it is taken. */
async function refusal(call: Promise<unknown>) {
  try {
    await call;
    return undefined;
  } catch (thrown) {
    const error = ConnectError.from(thrown);
    expect([error.code, readDetail(error)?.reason]).toEqual([Code.InvalidArgument, Reason.INVALID_ARGUMENT]);
    return [readDetail(error)?.parameter, error.rawMessage];
  }
}

async function drain(messages: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of messages) {
    // Read to its end.
  }
}

const form = "request_id must be 1 to 64 letters, digits, dashes or underscores.";
const unkept = "must not hold NUL characters or broken surrogate pairs.";
const obeyed = "must hold no control characters, line ends or changes of the writing direction.";
const amount = "must be above 0 and at most 9007199254740991.";

describe.each(routes)("over %s", (_name, open) => {
  let route: Route;
  const clientOf = () => ({
    inference: createClient(InferenceService, route.transport),
    embeddings: createClient(EmbeddingsService, route.transport),
    metering: createClient(MeteringService, route.transport),
    accounts: createClient(AccountsService, route.transport),
  });
  beforeAll(async () => {
    route = await open(services, [validateRequests(services.map(({ service }) => service))]);
  });
  afterAll(() => route.close());

  test.each<[Generate]>([
    [text],
    [{ ...text, requestId: "req_0-aZ" }],
    [talk({ messages: [user, { role: Role.TOOL, toolCallId: "1" }], tools: [{ name: "f" }] })],
    [{ ...text, sampling: { temperature: 0, topP: 1, presencePenalty: -2, topK: 0, seed: -5n } }],
    [{ ...text, maxOutputTokens: 1, stopSequences: Array(16).fill("x") }],
    [texts("a", "b")],
  ])("Generate takes %j", async (request) => {
    expect(await refusal(drain(clientOf().inference.generate(request)))).toBeUndefined();
  });

  test.each<[Generate, string, string]>([
    [{}, "prompt", "One of conversation, text, texts is required."],
    [{ prompt: { case: "text", value: "" } }, "text", "text must not be empty."],
    [texts(), "texts.texts", "texts must have 1 to 16 items."],
    [texts(...Array(17).fill("x")), "texts.texts", "texts must have 1 to 16 items."],
    [texts("a", ""), "texts.texts[1]", "texts[1] must not be empty."],
    [talk({}), "conversation.messages", "messages must have 1 to 10000 items."],
    [talk({ messages: Array(10_001).fill(user) }), "conversation.messages", "messages must have 1 to 10000 items."],
    [
      talk({ messages: [user], tools: Array(10_001).fill({ name: "f" }) }),
      "conversation.tools",
      "tools must have at most 10000 items.",
    ],
    [
      talk({ messages: [{ role: Role.ASSISTANT, toolCalls: Array(10_001).fill({}) }] }),
      "conversation.messages[0].tool_calls",
      "tool_calls must have at most 10000 items.",
    ],
    [talk({ messages: [user, {}] }), "conversation.messages[1].role", "role must be system, user, assistant or tool."],
    [
      talk({ messages: [{ role: 9 as Role }] }),
      "conversation.messages[0].role",
      "role must be system, user, assistant or tool.",
    ],
    [talk({ messages: [user], tools: [{ name: "f" }, {}] }), "conversation.tools[1].name", "name must not be empty."],
    [{ ...text, maxOutputTokens: 0 }, "max_output_tokens", "max_output_tokens must be at least 1."],
    [{ ...text, stopSequences: Array(17).fill("x") }, "stop_sequences", "stop_sequences must have at most 16 items."],
    [{ ...text, stopSequences: ["x", ""] }, "stop_sequences[1]", "stop_sequences[1] must not be empty."],
    [{ ...text, sampling: { temperature: 2.1 } }, "sampling.temperature", "temperature must be from 0 to 2."],
    [{ ...text, sampling: { temperature: Number.NaN } }, "sampling.temperature", "temperature must be from 0 to 2."],
    [{ ...text, sampling: { topP: 0 } }, "sampling.top_p", "top_p must be above 0 and at most 1."],
    ...["a b", "x".repeat(65), "nul\0", "é", "line\n", "a\r\nx-injected: 1", " a", "１"].map(
      (requestId): [Generate, string, string] => [{ ...text, requestId }, "request_id", form],
    ),
  ])("Generate refuses %j by %s", async (request, parameter, message) => {
    expect(await refusal(drain(clientOf().inference.generate(request)))).toEqual([parameter, message]);
  });

  test("every service is checked, a call and a stream alike", async () => {
    const { accounts, embeddings, inference, metering } = clientOf();
    expect(await refusal(inference.countTokens({}))).toEqual(["conversation", "conversation is required."]);
    expect(await refusal(embeddings.embed({ inputs: ["a"], requestId: "a b" }))).toEqual(["request_id", form]);
    expect(await refusal(embeddings.embed({}))).toEqual(["inputs", "inputs must have 1 to 2048 items."]);
    expect(await refusal(embeddings.embed({ inputs: ["a", ""] }))).toEqual([
      "inputs[1]",
      "inputs[1] must not be empty.",
    ]);
    expect(await refusal(embeddings.embed({ inputs: ["a"] }))).toBeUndefined();
    expect(await refusal(drain(metering.streamUsage({ model: "nul\0" })))).toEqual(["model", `model ${unkept}`]);
    expect(await refusal(drain(metering.streamUsage({ groupBy: [1, 0] })))).toEqual([
      "group_by[1]",
      "group_by[1] must be account, key, model, day, hour or label.",
    ]);
    expect(await refusal(accounts.createAccount({ name: "nul\0" }))).toEqual(["name", `name ${unkept}`]);
    expect(await refusal(accounts.createAccount({ name: "zwölf 👩\u200d🚀 שלום" }))).toBeUndefined();
    for (const [name, wrong] of [
      ["Ada\u202eecalevoL", obeyed],
      ["two\nlines", obeyed],
      ["\u2066\u2069", obeyed],
      ["\u200b \ufeff", "must have something that is seen."],
    ] as const) {
      expect(await refusal(accounts.createAccount({ name }))).toEqual(["name", `name ${wrong}`]);
      expect(await refusal(accounts.updateAccount({ name }))).toEqual(["name", `name ${wrong}`]);
    }
    expect(await refusal(accounts.updateAccount({ maxKeys: 10_001 }))).toEqual([
      "max_keys",
      "max_keys must be from 1 to 10000.",
    ]);
    expect(await refusal(accounts.listAccounts({ pageSize: -1 }))).toEqual([
      "page_size",
      "page_size must be at least 0.",
    ]);
    expect(await refusal(accounts.freezeAccount({}))).toEqual(["reason", "reason must not be empty."]);
    expect((await refusal(accounts.freezeAccount({ reason: " \t" })))?.[1]).toContain("not all of them spaces");
    const paid = { accountId: "a", reference: "r", amountPicoUsd: 1n };
    expect(await refusal(accounts.topUp(paid))).toBeUndefined();
    for (const amountPicoUsd of [0n, -1n, 2n ** 53n]) {
      expect(await refusal(accounts.topUp({ ...paid, amountPicoUsd }))).toEqual([
        "amount_pico_usd",
        `amount_pico_usd ${amount}`,
      ]);
    }
    expect(await refusal(accounts.topUp({ ...paid, reference: "nul\0" }))).toEqual([
      "reference",
      `reference ${unkept}`,
    ]);
    expect(await refusal(accounts.topUp({ ...paid, reference: "x".repeat(201) }))).toEqual([
      "reference",
      "reference must have at most 200 characters.",
    ]);
  });
});

test.each([
  [KeyLimitsSchema, "budgetPeriod", 9, ["budget_period", "budget_period must be total, day, week or month."]],
  [KeyLimitsSchema, "serviceClass", 77, ["service_class", "service_class must be flex, standard or priority."]],
  [
    UpdateAccountRequestSchema,
    "serviceClass",
    77,
    ["service_class", "service_class must be flex, standard or priority."],
  ],
  [KeyLimitsSchema, "budgetPeriod", 0, undefined],
  [KeyLimitsSchema, "budgetPeriod", 2, undefined],
] as const)("%# a value that the enum does not have is refused, and none is not", (schema, field, value, refused) => {
  const found = createChecks()(schema)?.(create(schema, { [field]: value } as object));
  expect(found && [found.path, found.message]).toEqual(refused);
});

test("half of a surrogate pair, which only a caller in this process can send, is refused as well", () => {
  const check = createChecks()(CreateKeyRequestSchema);
  for (const name of ["lone \ud800", "\udc00 first"]) {
    expect(check?.(create(CreateKeyRequestSchema, { name }))).toEqual({ path: "name", message: `name ${unkept}` });
  }
});

test.each([
  ["", 1, "name", "name must not be empty."],
  [" \t\n", 1, "name", "name must be 1 to 200 characters, not all of them spaces."],
  ["x".repeat(201), 1, "name", "name must have at most 200 characters."],
  ["nul\0", 1, "name", `name ${unkept}`],
  ["Ada", 0, "role", "role must be reader, billing or owner."],
  ["Ada", 9, "role", "role must be reader, billing or owner."],
  ["Ada Lovelace\n", 1, "name", `name ${obeyed}`],
  ["Ada Lovelace", 1, undefined, undefined],
])("an operator called %j with role %i is refused by %s", (name, role, path, message) => {
  const found = createChecks()(CreateOperatorRequestSchema)?.(create(CreateOperatorRequestSchema, { name, role }));
  expect(found).toEqual(path === undefined ? undefined : { path, message });
});

test("a price is set by a rate that is named, which may be 0: a call without one would make the model free", () => {
  const check = createChecks()(SetPriceRequestSchema);
  const name = "input_pico_usd_per_token";
  expect(check?.(create(SetPriceRequestSchema, { model: "tiny" }))).toEqual({
    path: name,
    message: `${name} is required.`,
  });
  expect(check?.(create(SetPriceRequestSchema, { model: "tiny", inputPicoUsdPerToken: 0n }))).toBeUndefined();
});
